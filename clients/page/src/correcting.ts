// Correcting a memory in place.
import type { RuntimeMemory } from "runtime-memory-client";
import { button, fresh, h, quiet } from "./dom.js";
import { sentence } from "./session.js";
import { t } from "./strings.js";

const LONGEST = 2000;
const NEARLY = 200;

/** A form with the memory's words; `save` is given the new ones, `cancel` closes it. */
export function correcting(
  memory: RuntimeMemory,
  save: (words: string) => Promise<void>,
  cancel: () => void,
): HTMLFormElement {
  const [id, hintId] = [fresh("words"), fresh("hint")];
  const area = h("textarea", { id, rows: "3", "aria-describedby": hintId, oninput: count, onkeydown: key });
  area.value = memory.memory ?? "";
  const room = h("span", { class: "room", role: "status" });
  const trouble = h("p", { class: "trouble", role: "alert" });
  const act = button(t.save, () => form.requestSubmit());
  const form = h(
    "form",
    { class: "correcting", onsubmit: submit, novalidate: true },
    h("label", { for: id, class: "hidden" }, t.correctLabel),
    area,
    trouble,
    h("div", { class: "actions" }, act, quiet(t.cancel, cancel), h("span", { class: "hint", id: hintId }, t.correctHint), room),
  );

  function count(): void {
    const left = LONGEST - [...area.value].length;
    room.textContent = left < 0 ? t.tooLong(-left) : left < NEARLY ? t.left(left) : "";
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight + 2}px`;
  }

  function key(event: KeyboardEvent): void {
    if (event.key === "Escape") cancel();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    else return;
    event.preventDefault();
  }

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    const words = area.value.trim();
    trouble.textContent = words ? "" : t.emptyWords;
    if (!words || act.disabled) return;
    act.disabled = true;
    try {
      await save(words);
    } catch (error) {
      trouble.textContent = sentence(error);
      act.disabled = false;
    }
  }

  queueMicrotask(() => {
    area.focus();
    area.setSelectionRange(area.value.length, area.value.length);
    count();
  });
  return form;
}
