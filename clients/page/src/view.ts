// What every view is given, and what it gives back.
import { button, fill, h } from "./dom.js";
import { notice } from "./notices.js";
import { ended, sentence } from "./session.js";
import type { Source } from "./source.js";
import { t } from "./strings.js";

export interface Context {
  source: Source;
  /** The uid of who is signed in. */
  person: string;
  /** Ends what the view still waits for when another one comes. */
  signal: AbortSignal;
  /** The session is over. */
  leave: () => void;
}

/** Who did something, as the person reads it. */
export function whoIs(context: Context, uid: string | null | undefined): string {
  return uid === context.person ? t.you : (uid ?? "");
}

/** Say in passing what went wrong; a session that is over leads to signing in. */
export function failed(context: Context, error: unknown): void {
  if (ended(error)) context.leave();
  else notice(sentence(error));
}

/** A block that is filled once its content came; a fault is said in it, with a way to try again. */
export function loaded(context: Context, load: () => Promise<(Node | string | false)[]>): HTMLElement {
  const block = h("div", { class: "block", "aria-busy": "true" }, h("p", { class: "faint" }, t.loading));
  const attempt = async () => {
    block.setAttribute("aria-busy", "true");
    try {
      fill(block, ...(await load()));
    } catch (error) {
      if (context.signal.aborted) return;
      if (ended(error)) return context.leave();
      fill(block, h("p", { class: "trouble", role: "alert" }, sentence(error)), button(t.tryAgain, () => void attempt()));
    }
    block.removeAttribute("aria-busy");
  };
  void attempt();
  return block;
}

/** A time with the instant that it stands for. */
export function time(stored: string | null | undefined, words: string): HTMLElement {
  return h("time", { datetime: stored ?? "" }, words);
}

/** A view's heading, which takes the focus when the view comes. */
export function heading(text: string): HTMLHeadingElement {
  return h("h1", { tabindex: "-1" }, text);
}
