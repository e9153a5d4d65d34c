// Which application may use what another one remembers: a plain matrix, and the same in sentences.
import type { RuntimeMemoryShare } from "runtime-memory-client";
import { moment } from "./dates.js";
import { button, fill, fresh, h } from "./dom.js";
import { notice } from "./notices.js";
import { ended, sentence } from "./session.js";
import { bare } from "./source.js";
import { t } from "./strings.js";
import { heading, loaded, time } from "./view.js";
import type { Context } from "./view.js";

const pairOf = (source: string, reader: string) => `${source} ${reader}`;

/** The view. */
export function sharingView(context: Context): Node[] {
  const { client } = context.source;
  const content = loaded(context, async () => {
    const [applications, shares] = await Promise.all([
      client.applications({ signal: context.signal }),
      client.listRuntimeMemoryShares({}, { signal: context.signal }),
    ]);
    return sharing(context, applications.map((one) => one.app), shares);
  });
  return [heading(t.sharing), h("p", { class: "lead" }, t.sharingLead), content];
}

function sharing(context: Context, remembering: string[], shares: RuntimeMemoryShare[]): Node[] {
  const allowed = new Map(shares.map((share) => [pairOf(share.source, share.reader), share]));
  const keys = new Set([...remembering, ...shares.flatMap((share) => [share.source, share.reader])]);
  const table = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t.sharingCaption });
  const sentences = h("div", {});

  async function change(box: HTMLInputElement, source: string, reader: string): Promise<void> {
    const wanted = box.checked;
    box.disabled = true;
    try {
      if (wanted) allowed.set(pairOf(source, reader), await context.source.client.allowRuntimeMemoryShare(source, reader));
      else await context.source.client.stopRuntimeMemoryShare(source, reader).then(() => allowed.delete(pairOf(source, reader)));
      notice((wanted ? t.allowedSentence : t.stoppedSentence)(bare(reader), bare(source)));
    } catch (error) {
      box.checked = !wanted;
      if (ended(error)) return context.leave();
      notice(sentence(error));
    }
    box.disabled = false;
    box.focus();
    fill(sentences, ...inSentences([...allowed.values()]));
  }

  function show(): void {
    const known = [...keys].sort();
    if (known.length < 2) fill(table, h("p", { class: "empty" }, t.noSharing));
    else fill(table, matrix(known, (pair) => allowed.has(pair), change));
  }

  const add = (app: string) => {
    keys.add(app);
    show();
  };
  show();
  fill(sentences, ...inSentences(shares));
  return [table, adding(add), sentences];
}

type Change = (box: HTMLInputElement, source: string, reader: string) => Promise<void>;

function matrix(known: string[], allowed: (pair: string) => boolean, change: Change): HTMLTableElement {
  const name = (app: string) => h("span", { class: "cut", title: bare(app) }, bare(app));
  const cell = (source: string, reader: string) => {
    if (source === reader) return h("td", { class: "self" }, h("span", { "aria-hidden": "true" }, "–"));
    const label = t.allowedSentence(bare(reader), bare(source));
    const box = h("input", { type: "checkbox", "aria-label": label, title: label, checked: allowed(pairOf(source, reader)), onchange: () => void change(box, source, reader) });
    return h("td", {}, h("label", {}, box));
  };
  return h(
    "table",
    { class: "matrix" },
    h("caption", { class: "hidden" }, t.sharingCaption),
    h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "corner" }, h("span", {}, t.columnsUse), h("span", {}, t.rowsRemember)), ...known.map((reader) => h("th", { scope: "col" }, name(reader))))),
    h("tbody", {}, ...known.map((source) => h("tr", {}, h("th", { scope: "row" }, name(source)), ...known.map((reader) => cell(source, reader))))),
  );
}

function adding(add: (app: string) => void): HTMLElement {
  const id = fresh("application");
  const input = h("input", { id, autocomplete: "off", spellcheck: "false", maxlength: "255" });
  const submit = (event: Event) => {
    event.preventDefault();
    const uid = bare(input.value.trim());
    if (uid) add(`app:${uid}`);
    input.value = "";
  };
  const form = h("form", { class: "line", onsubmit: submit }, h("label", { for: id }, t.applicationName), input, button(t.add, () => form.requestSubmit(), { class: "button plain" }));
  return h("details", { class: "adding" }, h("summary", {}, t.addApplication), form);
}

function inSentences(shares: RuntimeMemoryShare[]): Node[] {
  const lines = shares.map((share) =>
    h(
      "li",
      {},
      t.allowedSentence(bare(share.reader), bare(share.source)),
      share.allowed_at !== undefined && h("span", { class: "faint" }, " ", time(share.allowed_at, t.sinceWhen(moment(share.allowed_at)))),
    ),
  );
  return [h("h2", {}, t.allowedNow), lines.length ? h("ul", { class: "sentences" }, ...lines) : h("p", { class: "faint" }, t.allowNothing)];
}
