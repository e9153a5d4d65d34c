// A search field that finds as one types, in the place of what it stands above.
import type { RuntimeMemory } from "runtime-memory-client";
import { fill, focus, fresh, h } from "./dom.js";
import { memoryItem } from "./memory.js";
import { whisper } from "./notices.js";
import { isForgotten } from "./pending.js";
import { ended, sentence } from "./session.js";
import { t } from "./strings.js";
import type { Context } from "./view.js";

const PAUSE = 180;

export interface Searched {
  label: string;
  /** The application searched; null for everything. */
  app: string | null;
  /** What is shown while nothing is looked for. */
  rest: HTMLElement;
  /** What is on the page already: it is found by a part of a word too. */
  known: () => RuntimeMemory[];
}

/** The field, and the place of its results, before what they stand in for. */
export function searching(context: Context, searched: Searched): HTMLElement[] {
  const [id, hintId] = [fresh("search"), fresh("hint")];
  const results = h("div", { class: "results" });
  const input = h("input", { type: "search", id, "aria-describedby": hintId, placeholder: searched.label, autocomplete: "off", spellcheck: "false", maxlength: "500", oninput: soon });
  let timer = 0;
  let running = new AbortController();
  context.signal.addEventListener("abort", () => running.abort());

  function soon(): void {
    clearTimeout(timer);
    timer = window.setTimeout(() => void find(input.value.trim()), PAUSE);
  }

  async function find(words: string): Promise<void> {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    searched.rest.hidden = words !== "";
    if (!words) return fill(results);
    try {
      const found = await context.source.search(searched.app, words, signal);
      if (!signal.aborted) show(words, together(found, searched.known(), words));
    } catch (error) {
      if (signal.aborted) return;
      if (ended(error)) return context.leave();
      fill(results, h("p", { class: "trouble", role: "alert" }, sentence(error)));
    }
  }

  function show(words: string, found: RuntimeMemory[]): void {
    const said = found.length ? t.found(found.length) : t.foundNothing(words);
    const gone = (item: HTMLElement) => {
      const had = item.contains(document.activeElement);
      const next = item.nextElementSibling ?? item.previousElementSibling;
      item.remove();
      if (had) focus(next?.querySelector<HTMLElement>("button") ?? input);
    };
    const items = found.map((memory) => memoryItem(context, memory, { dated: true, app: searched.app, gone }));
    fill(results, h("p", { class: "faint" }, said), h("ul", { class: "memories" }, ...items));
    whisper(said);
  }

  const field = h("div", { class: "search", role: "search" }, h("label", { for: id, class: "hidden" }, searched.label), input, h("span", { class: "hidden", id: hintId }, t.searchHint));
  return [field, results];
}

/** What the service found, then what is on the page and has the text as it was typed. */
function together(found: RuntimeMemory[], known: RuntimeMemory[], words: string): RuntimeMemory[] {
  const typed = words.toLowerCase();
  const ids = new Set(found.map((memory) => memory.id));
  const more = known.filter((memory) => !ids.has(memory.id) && (memory.memory ?? "").toLowerCase().includes(typed));
  return [...found, ...more].filter((memory) => !isForgotten(memory.id));
}
