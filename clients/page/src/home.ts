// All applications that remember something of the person.
import type { RememberingApplication } from "runtime-memory-client";
import { day } from "./dates.js";
import { h } from "./dom.js";
import { searching } from "./searching.js";
import { bare } from "./source.js";
import { t } from "./strings.js";
import { heading, loaded, time } from "./view.js";
import type { Context } from "./view.js";

/** The first view. */
export function homeView(context: Context): Node[] {
  const rest = loaded(context, async () => {
    const applications = await context.source.client.applications({ signal: context.signal });
    if (applications.length === 0) {
      return [h("div", { class: "empty" }, h("h2", {}, t.nothingTitle), h("p", {}, t.nothing))];
    }
    const total = applications.reduce((sum, one) => sum + one.total, 0);
    return [
      h("p", { class: "lead" }, t.homeLead(applications.length, total)),
      h("ul", { class: "applications" }, ...applications.map(applicationItem)),
    ];
  });
  const search = context.source.whole
    ? searching(context, { label: t.searchEverything, app: null, rest, known: () => [] })
    : [];
  return [heading(t.wordmark), ...search, rest];
}

function applicationItem(one: RememberingApplication): HTMLLIElement {
  const facts = h("span", { class: "facts" }, h("span", { class: "fact" }, t.count(one.total)));
  if (one.first_at) facts.append(h("span", { class: "fact" }, time(one.first_at, t.since(day(one.first_at)))));
  if (one.last_at) facts.append(h("span", { class: "fact" }, time(one.last_at, t.latest(day(one.last_at)))));
  const href = `#/application/${encodeURIComponent(bare(one.app))}`;
  return h("li", {}, h("a", { class: "application", href }, h("span", { class: "name" }, bare(one.app)), facts));
}
