// What was forgotten, and who looked.
import type { Access, Receipt } from "runtime-memory-client";
import { moment } from "./dates.js";
import { h } from "./dom.js";
import { bare } from "./source.js";
import { t } from "./strings.js";
import { heading, loaded, time, whoIs } from "./view.js";
import type { Context } from "./view.js";

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
      h("span", { class: "fact" }, t.actions[one.verb] ?? one.verb),
      h("span", { class: "fact" }, t.reached(one.memories)),
      one.app !== null && h("span", { class: "fact" }, t.inApplication(bare(one.app))),
      h("span", { class: "fact" }, time(one.at, moment(one.at))),
    ),
  );
}
