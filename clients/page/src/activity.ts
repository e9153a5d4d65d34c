// What was forgotten, and who looked.
import type { Access, Receipt } from "runtime-memory-client";
import { moment } from "./dates.js";
import { h } from "./dom.js";
import { bare } from "./source.js";
import { t } from "./strings.js";
import { heading, loaded, time, whoIs } from "./view.js";
import type { Context } from "./view.js";

/** The verbs of the record, which each dialect has its own of, by what they do. */
const DOES: Record<string, string[]> = {
  list: ["list_memories", "list_v1", "list_v2", "list_v3", "list_applications", "entities", "list_types", "list_states"],
  read: ["get", "get_memory", "get_schema", "get_event", "get_export", "get_state", "current", "summary", "stats"],
  search: ["search_memory", "search_v1"],
  learn: ["add", "add_v3", "remember", "put"],
  correct: ["update", "update_memory"],
  forget: ["delete", "delete_memory"],
  forgetAll: ["forget_all", "delete_all", "delete_all_memories", "delete_entity", "delete_entity_by_number", "erase", "reset_deployment"],
  save: ["take_in"],
  share: ["allow", "stop"],
  talk: ["completions"],
};
const ACTIONS = new Map(Object.entries(DOES).flatMap(([action, verbs]) => verbs.map((verb) => [verb, action] as const)));

/** The view. */
export function activityView(context: Context): Node[] {
  const { client } = context.source;
  const rows = (items: HTMLElement[], none: string) =>
    items.length ? [h("ul", { class: "rows" }, ...items)] : [h("p", { class: "empty" }, none)];
  const receipts = async () =>
    rows((await client.receipts({ signal: context.signal })).map((one) => receiptItem(context, one)), t.noReceipts);
  const looked = async () => rows((await client.access({ signal: context.signal })).map(accessItem), t.nobodyLooked);
  return [
    heading(t.activity),
    h("section", {}, h("h2", {}, t.receipts), h("p", { class: "lead" }, t.receiptsLead), loaded(context, receipts)),
    h("section", {}, h("h2", {}, t.looked), h("p", { class: "lead" }, t.lookedLead), loaded(context, looked)),
  ];
}

function receiptItem(context: Context, one: Receipt): HTMLLIElement {
  return h(
    "li",
    {},
    h("span", { class: "name" }, t.receipt(one.forgotten, one.app === null ? null : bare(one.app))),
    h(
      "p",
      { class: "facts" },
      h("span", { class: "fact" }, t.verbs[one.verb] ?? one.verb),
      h("span", { class: "fact" }, time(one.at, moment(one.at))),
      h("span", { class: "fact" }, t.byWhom(whoIs(context, one.actor))),
    ),
    one.held_by_snapshots > 0 && h("p", { class: "facts" }, h("span", { class: "mark" }, t.held(one.held_by_snapshots))),
  );
}

function accessItem(one: Access): HTMLLIElement {
  return h(
    "li",
    {},
    h("span", { class: "name" }, one.actor),
    h(
      "p",
      { class: "facts" },
      h("span", { class: "fact" }, t.actions[ACTIONS.get(one.verb) ?? one.verb] ?? one.verb.replaceAll("_", " ")),
      one.memories > 0 && h("span", { class: "fact" }, t.reached(one.memories)),
      one.app !== null && h("span", { class: "fact" }, t.inApplication(bare(one.app))),
      h("span", { class: "fact" }, time(one.at, moment(one.at))),
    ),
  );
}
