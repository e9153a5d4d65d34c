// What is said in passing: aloud to a screen reader, and at the foot of the page for all.
import { h } from "./dom.js";

const LASTS = 6000;

const said = h("div", { class: "notices", role: "status", "aria-live": "polite" });
const whispered = h("div", { class: "hidden", role: "status", "aria-live": "polite" });

/** Where notices stand. */
export function noticeBoard(): HTMLElement[] {
  return [said, whispered];
}

/** Say something to everybody. */
export function notice(text: string): void {
  const line = h("p", { class: "notice" }, text);
  said.replaceChildren(line);
  setTimeout(() => line.remove(), LASTS);
}

/** Say something that is seen anyway to those who cannot see it. */
export function whisper(text: string): void {
  whispered.textContent = text;
}
