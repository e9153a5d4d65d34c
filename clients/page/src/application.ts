// What one application remembers of the person.
import { RunResponseError } from "runtime-memory-client";
import type { RuntimeMemory } from "runtime-memory-client";
import { dayName } from "./dates.js";
import { ask } from "./dialogs.js";
import { append, button, focus, fresh, h, quiet } from "./dom.js";
import { memoryItem } from "./memory.js";
import { notice } from "./notices.js";
import { isForgotten, sendAll } from "./pending.js";
import { searching } from "./searching.js";
import { ended, sentence } from "./session.js";
import { bare } from "./source.js";
import { t } from "./strings.js";
import { failed, heading, loaded } from "./view.js";
import type { Context } from "./view.js";

const AT_ONCE = 50;

/** The view of one application; `app` is its key. */
export function applicationView(context: Context, app: string): Node[] {
  const title = heading(bare(app));
  const count = h("p", { class: "lead" });
  const all = quiet(t.forgetAll, () => void askToForgetAll(context, app).catch((error: unknown) => failed(context, error)), { class: "quiet aside" });
  const list = memoryList(context, app, (total) => {
    count.textContent = t.count(total);
    all.hidden = total === 0;
  });
  return [
    h("a", { class: "back", href: "#/" }, t.allApplications),
    h("header", { class: "head" }, h("div", {}, title, count), all),
    ...searching(context, { label: t.searchHere(bare(app)), app, rest: list.element, known: () => list.shown }),
    list.element,
  ];
}

interface List {
  element: HTMLElement;
  shown: RuntimeMemory[];
}

/** The memories of an application, a day at a time, more as one scrolls. */
function memoryList(context: Context, app: string, counted: (total: number) => void): List {
  const days = h("div", { class: "days" });
  const foot = h("div", { class: "foot" });
  const element = h("div", {}, context.source.whole && sharedWith(context, app), days, foot);
  const list: List = { element, shown: [] };
  let [cursor, total, busy]: [string | undefined, number, boolean] = [undefined, 0, false];
  let last: { day: string; items: HTMLUListElement } | undefined;

  function add(memory: RuntimeMemory): void {
    const day = dayName(memory.created_at);
    if (last?.day !== day) {
      const id = fresh("day");
      last = { day, items: h("ul", { class: "memories", "aria-labelledby": id }) };
      append(days, h("section", {}, h("h2", { class: "day", id }, day), last.items));
    }
    list.shown.push(memory);
    last.items.append(memoryItem(context, memory, { dated: false, app, gone: (item) => gone(item, memory) }));
  }

  function gone(item: HTMLElement, memory: RuntimeMemory): void {
    const had = item.contains(document.activeElement);
    const buttons = [...days.querySelectorAll<HTMLElement>(".memory button")];
    const next = buttons.find((one) => item.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING && !item.contains(one));
    const section = item.closest("section");
    item.remove();
    if (section && !section.querySelector("li")) section.remove();
    list.shown = list.shown.filter((one) => one.id !== memory.id);
    if (!memory.expired) counted((total -= 1));
    if (list.shown.length === 0) foot.replaceChildren(...ending());
    if (had) focus(next ?? document.querySelector<HTMLElement>("h1"));
  }

  async function more(): Promise<void> {
    if (busy) return;
    busy = true;
    try {
      const how = { limit: AT_ONCE, showExpired: true, signal: context.signal, ...(cursor ? { cursor } : {}) };
      const page = await context.source.list(app, how);
      if (cursor === undefined) counted((total = await unexpired(context, app, page.total ?? page.count)));
      page.memories.filter((memory) => !isForgotten(memory.id)).forEach(add);
      cursor = page.next ?? undefined;
      foot.replaceChildren(...ending());
    } catch (error) {
      if (context.signal.aborted) return;
      if (ended(error)) return context.leave();
      foot.replaceChildren(h("p", { class: "trouble", role: "alert" }, sentence(error)), button(t.tryAgain, () => void more()));
    } finally {
      busy = false;
    }
  }

  function ending(): Node[] {
    if (cursor === undefined && list.shown.length === 0) return [h("p", { class: "empty" }, t.emptyApplication)];
    if (cursor === undefined) return [h("p", { class: "faint" }, t.end)];
    const control = button(t.more, () => void more(), { class: "button plain" });
    watch.observe(control);
    return [control];
  }

  const watch = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting && one.target.isConnected) && void more(), { rootMargin: "600px" });
  context.signal.addEventListener("abort", () => watch.disconnect());
  void more();
  return list;
}

/** How many there are that have not expired: what forgetting everything is confirmed with. */
async function unexpired(context: Context, app: string, listed: number): Promise<number> {
  if (listed === 0) return 0;
  const page = await context.source.list(app, { limit: 1, signal: context.signal });
  return page.total ?? page.count;
}

/** What the application may use of others, each marked with the one that remembers it. */
function sharedWith(context: Context, app: string): HTMLElement {
  const place = h("div", { class: "shared" });
  void context.source.client.listRuntimeMemoryShares({ reader: app }, { signal: context.signal }).then(
    (shares) => append(place, ...shares.map((share) => sharedBy(context, app, share.source))),
    () => undefined, // The list itself says what goes wrong.
  );
  return place;
}

function sharedBy(context: Context, app: string, source: string): HTMLElement {
  let opened = false;
  const read = async () => {
    const page = await context.source.list(source, { limit: AT_ONCE, signal: context.signal });
    const items = page.memories.map((memory) => memoryItem(context, memory, { dated: true, app, gone: (item) => item.remove() }));
    return [h("ul", { class: "memories" }, ...items)];
  };
  const open = () => {
    if (!opened) details.append(loaded(context, read));
    opened = true;
  };
  const details = h("details", { ontoggle: open }, h("summary", {}, t.alsoReads(bare(app), bare(source))));
  return details;
}

async function askToForgetAll(context: Context, app: string): Promise<void> {
  await sendAll();
  let count = (await context.source.list(app, { limit: 1 })).total ?? 0;
  const id = fresh("confirm");
  const input = h("input", { id, inputmode: "numeric", autocomplete: "off", oninput: check });

  function content(): Node[] {
    return [h("p", {}, t.forgetAllLead(count)), h("label", { for: id }, t.forgetAllType(count)), input];
  }

  function check(): void {
    question.allow(input.value.trim() === String(count));
  }

  const forget = async () => {
    try {
      notice(t.forgetAllDone(await context.source.forgetAll(app, count)));
      location.hash = "#/";
    } catch (error) {
      if (!(error instanceof RunResponseError) || error.status !== 409) throw error;
      count = Number(error.body["total"] ?? count);
      input.value = "";
      question.show(...content());
      question.explain(t.grew(count));
      check();
      throw error;
    }
  };
  const question = ask(context, { title: t.forgetAllTitle(bare(app)), content: content(), act: t.forgetAllDo, harmful: true, do: forget });
  question.allow(false);
  input.focus();
}
