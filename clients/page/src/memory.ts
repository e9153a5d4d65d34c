// One memory, as it is shown: its words, what is known of it, and what a person may do with it.
import type { Revision, RuntimeMemory } from "runtime-memory-client";
import { correcting } from "./correcting.js";
import { calendarDay, clock, moment } from "./dates.js";
import { fill, focus, fresh, h, quiet } from "./dom.js";
import { hear, tell } from "./news.js";
import type { News } from "./news.js";
import { notice, whisper } from "./notices.js";
import { forgetSoon, isPending, undo } from "./pending.js";
import { sentence } from "./session.js";
import { bare } from "./source.js";
import { t } from "./strings.js";
import { loaded, time, whoIs } from "./view.js";
import type { Context } from "./view.js";

export interface Showing {
  /** Whether the whole date stands beside it, or only the time of its day. */
  dated: boolean;
  /** The application whose memories these are: one of another's is marked. */
  app: string | null;
  /** Called once it is forgotten. */
  gone: (item: HTMLElement) => void;
}

/** A memory as an item of a list. */
export function memoryItem(context: Context, first: RuntimeMemory, showing: Showing): HTMLLIElement {
  let memory = first;
  const item = h("li", { class: "memory", "data-id": memory.id });

  function rest(after?: "correct"): void {
    const words = h("p", { class: "words", id: fresh("memory"), dir: "auto" }, memory.memory ?? "");
    const told = h("div", { class: "told" });
    const act = (label: string, onclick: () => void, name = "") =>
      quiet(label, onclick, { "aria-describedby": words.id, class: `quiet ${name}` });
    const correct = act(t.correct, edit);
    const forget = act(t.forget, soon, "forget");
    const history = act(t.history, () => toggleHistory(context, memory, history, told));
    history.setAttribute("aria-expanded", "false");
    fill(item, words, facts(context, memory, showing), h("div", { class: "actions" }, correct, history, forget), told);
    if (after) focus(correct);
  }

  function edit(): void {
    const save = async (words: string) => {
      const after = await context.source.correct(memory, words);
      tell(memory.id, { kind: "changed", memory: { ...memory, ...after, agent_id: memory.agent_id ?? null } });
      rest("correct");
      notice(t.corrected);
    };
    fill(item, correcting(memory, save, () => rest("correct")), facts(context, memory, showing));
  }

  function soon(): void {
    forgetSoon(context.source, memory);
    focus(item.querySelector("button"));
    whisper(t.forgetting);
  }

  function waiting(): void {
    const keep = quiet(t.undo, () => {
      undo(memory.id);
      focus(item.querySelector<HTMLElement>(".forget"));
      whisper(t.undone);
    });
    const bar = h("span", { class: "running", "aria-hidden": "true" });
    fill(item, h("div", { class: "waiting" }, h("span", {}, t.forgetting), keep), bar);
  }

  function hears(news: News): void {
    if (news.kind === "waiting") return waiting();
    if (news.kind === "gone") {
      whisper(t.forgotten);
      return showing.gone(item);
    }
    if (news.kind === "changed") memory = news.memory;
    else if (news.error !== undefined) notice(`${t.notForgotten} ${sentence(news.error)}`);
    rest();
  }

  if (isPending(memory.id)) waiting();
  else rest();
  // Once it is on the page: what is not on it hears nothing.
  queueMicrotask(() => hear(memory.id, item, hears));
  return item;
}

function facts(context: Context, memory: RuntimeMemory, showing: Showing): HTMLElement {
  const line = h("p", { class: "facts" });
  const fact = (...words: (Node | string)[]) => line.append(h("span", { class: "fact" }, ...words));
  const other = memory.remembered_by ?? (memory.agent_id !== showing.app ? memory.agent_id : null);
  if (other) line.append(h("span", { class: "mark" }, t.rememberedBy(bare(other))));
  fact(time(memory.created_at, showing.dated ? moment(memory.created_at) : clock(memory.created_at)));
  if (memory.corrected_at) {
    fact(h("span", { class: "dot", "aria-hidden": "true" }), t.correctedBy(whoIs(context, memory.corrected_by), moment(memory.corrected_at)));
  }
  if (memory.expiration_date) {
    const until = calendarDay(memory.expiration_date);
    if (memory.expired) line.append(h("span", { class: "mark past" }, t.expired(until)));
    else fact(t.expires(until));
  }
  return line;
}

function toggleHistory(context: Context, memory: RuntimeMemory, control: HTMLButtonElement, place: HTMLElement): void {
  const open = control.getAttribute("aria-expanded") === "true";
  control.setAttribute("aria-expanded", String(!open));
  control.textContent = open ? t.history : t.hideHistory;
  if (open) return fill(place);
  const read = async () => {
    const revisions = await context.source.history(memory);
    return [h("ol", { class: "history" }, ...revisions.reverse().map((one) => revision(context, one)))];
  };
  fill(place, loaded(context, read));
}

function revision(context: Context, one: Revision): HTMLLIElement {
  return h(
    "li",
    {},
    h(
      "p",
      { class: "facts" },
      h("span", { class: "fact" }, one.event === "ADD" ? t.learned : t.changed),
      h("span", { class: "fact" }, time(one.at, moment(one.at))),
      h("span", { class: "fact" }, t.byWhom(whoIs(context, one.actor))),
    ),
    h("p", { class: "words small", dir: "auto" }, one.new_memory ?? ""),
    one.old_memory !== null &&
      h("p", { class: "words small former", dir: "auto" }, h("span", { class: "hidden" }, `${t.was}: `), h("del", {}, one.old_memory)),
  );
}
