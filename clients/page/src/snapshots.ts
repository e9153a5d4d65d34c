// Copies of everything that is remembered of the person: saved, looked into, restored, taken home, deleted.
import type { MemoryUnit, Snapshot } from "runtime-memory-client";
import { moment } from "./dates.js";
import { ask } from "./dialogs.js";
import { difference } from "./difference.js";
import { button, focus, h, quiet } from "./dom.js";
import { notice } from "./notices.js";
import { sendAll } from "./pending.js";
import { bare } from "./source.js";
import { language } from "./language.js";
import { t } from "./strings.js";
import { failed, heading, loaded, time } from "./view.js";
import type { Context } from "./view.js";

/** The counts of a snapshot that count memories. */
const MEMORIES = ["shortTerm", "session", "user"];
const SHOWN = 5;

/** The view. */
export function snapshotsView(context: Context): Node[] {
  const title = heading(t.snapshots);
  const place = h("div", {}, list());
  const again = () => place.replaceChildren(list());

  function list(): HTMLElement {
    return loaded(context, async () => {
      const snapshots = await context.source.client.listSnapshots({ signal: context.signal });
      if (snapshots.length === 0) return [h("p", { class: "empty" }, t.noSnapshots)];
      return [h("ul", { class: "rows" }, ...snapshots.map((one) => snapshotItem(context, one, again, title)))];
    });
  }

  async function change(control: HTMLButtonElement, act: () => Promise<unknown>, done: string): Promise<void> {
    control.disabled = true;
    try {
      await sendAll();
      await act();
      notice(done);
      again();
    } catch (error) {
      failed(context, error);
    }
    control.disabled = false;
  }

  const { client } = context.source;
  const save = button(t.saveSnapshot, () => void change(save, () => client.saveSnapshot(), t.snapshotSaved));
  const take = quiet(t.takeIn, () => {
    const input = h("input", { type: "file", accept: "application/json,.json" });
    input.addEventListener("change", () => {
      const file = input.files?.[0];
      if (file) void change(take, () => client.importSnapshot(file), t.takenIn);
    });
    input.click();
  });
  const acts = h("div", { class: "line" }, save, take);
  return [title, h("p", { class: "lead" }, t.snapshotsLead), acts, place];
}

function snapshotItem(context: Context, one: Snapshot, again: () => void, title: HTMLElement): HTMLLIElement {
  const memories = MEMORIES.reduce((sum, name) => sum + (one.counts[name] ?? 0), 0);
  const when = h("span", { class: "name" }, time(one.created, moment(one.created)));
  return h(
    "li",
    {},
    when,
    h("p", { class: "facts" }, h("span", { class: "fact" }, t.count(memories)), h("span", { class: "fact" }, sizeOf(one.size))),
    h(
      "div",
      { class: "actions" },
      quiet(t.restore, () => void askToRestore(context, one).catch((error: unknown) => failed(context, error))),
      quiet(t.download, () => void download(context, one)),
      quiet(t.remove, () => askToRemove(context, one, again, title)),
    ),
  );
}

async function askToRestore(context: Context, one: Snapshot): Promise<void> {
  const { client } = context.source;
  await sendAll();
  const respect = h("input", { type: "checkbox" });
  const preview = loaded(context, async () => {
    const [now, then] = await Promise.all([client.currentState(), client.getSnapshot(one.id)]);
    const changes = difference(now, then);
    const parts = [
      part(t.comesBack, changes.comesBack, "plus"),
      part(t.goesAway, changes.goesAway, "minus"),
      part(t.changesBack, changes.changesBack, "equal"),
      changes.typed && h("p", {}, t.typedChanges),
    ].filter((found) => found !== false);
    question.allow(true);
    if (parts.length === 0) return [h("p", {}, t.restoreSame)];
    return [...parts, changes.comesBack.length > 0 && h("label", { class: "check" }, respect, t.respect)];
  });
  const restore = async () => {
    await client.restoreSnapshot(one.id, { respectForgotten: respect.checked });
    notice(t.restored);
  };
  const question = ask(context, { title: t.restoreTitle(moment(one.created)), content: [preview], act: t.restoreDo, do: restore });
  question.allow(false);
}

function part(title: (n: number) => string, units: MemoryUnit[], kind: string): HTMLElement | false {
  if (units.length === 0) return false;
  const lines = units.slice(0, SHOWN).map((unit) =>
    h("li", {}, h("span", { class: "words small", dir: "auto" }, unit.text), " ", h("span", { class: "faint" }, bare(unit.agentRef))),
  );
  const rest = units.length - lines.length;
  return h("section", { class: `change ${kind}` }, h("h3", {}, title(units.length)), h("ul", {}, ...lines), rest > 0 && h("p", { class: "faint" }, t.andMore(rest)));
}

async function download(context: Context, one: Snapshot): Promise<void> {
  try {
    const address = URL.createObjectURL(await context.source.client.downloadSnapshot(one.id));
    h("a", { href: address, download: `memory-${one.id}.json` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  } catch (error) {
    failed(context, error);
  }
}

function askToRemove(context: Context, one: Snapshot, again: () => void, title: HTMLElement): void {
  const remove = async () => {
    await context.source.client.deleteSnapshot(one.id);
    notice(t.removed);
    again();
  };
  const content = [h("p", {}, t.removeLead(moment(one.created)))];
  ask(context, { title: t.removeTitle, content, act: t.removeDo, harmful: true, do: remove, then: () => focus(title) });
}

function sizeOf(bytes: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
  let [size, unit] = [bytes, 0];
  while (size >= 1000 && unit < units.length - 1) [size, unit] = [size / 1000, unit + 1];
  const style = { style: "unit", unit: units[unit] ?? "byte", unitDisplay: "short", maximumFractionDigits: size < 10 && unit > 0 ? 1 : 0 } as const;
  return new Intl.NumberFormat(language, style).format(size);
}
