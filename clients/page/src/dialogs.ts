// A question that is answered before anything else goes on. It closes when the view it belongs to goes.
import { fill, fresh, h, quiet } from "./dom.js";
import { ended, sentence } from "./session.js";
import { t } from "./strings.js";
import type { Context } from "./view.js";

export interface Asked {
  title: string;
  /** What is asked, as elements. */
  content: (Node | string)[];
  /** The words of the button that does it. */
  act: string;
  harmful?: boolean;
  /** Does it; the dialog stays open with what it throws, and with `false`. */
  do: () => Promise<boolean | void>;
  /** Called once it was done and the dialog is closed: the button that opened it may be gone. */
  then?: () => void;
}

export interface Question {
  /** Whether it can be done now. */
  allow(allowed: boolean): void;
  /** Put other content in its place. */
  show(...content: (Node | string)[]): void;
  /** Say why it was not done. */
  explain(text: string): void;
}

/** Ask; it opens at once, Escape and the second button close it. */
export function ask(context: Context, asked: Asked): Question {
  const titleId = fresh("title");
  let allowed = true;
  const content = h("div", { class: "dialog-content" }, ...asked.content);
  const trouble = h("p", { class: "trouble", role: "alert" });
  // Enter in any of its fields does it.
  const act = h("button", { type: "submit", class: asked.harmful ? "button harmful" : "button" }, asked.act);
  const form = h(
    "form",
    { novalidate: true, onsubmit: submit },
    h("h2", { id: titleId }, asked.title),
    content,
    trouble,
    h("div", { class: "dialog-actions" }, quiet(t.cancel, () => dialog.close()), act),
  );
  const dialog = h("dialog", { "aria-labelledby": titleId, onclose: () => dialog.remove() }, form);

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    if (act.disabled) return;
    act.disabled = true;
    trouble.textContent = "";
    try {
      const done = (await asked.do()) !== false;
      act.disabled = !allowed;
      if (!done) return;
      dialog.close();
      asked.then?.();
    } catch (error) {
      if (ended(error)) return context.leave();
      trouble.textContent ||= sentence(error);
      act.disabled = !allowed;
    }
  }

  context.signal.addEventListener("abort", () => dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  return {
    allow: (now) => {
      allowed = now;
      act.disabled = !now;
    },
    show: (...shown) => fill(content, ...shown),
    explain: (text) => (trouble.textContent = text),
  };
}
