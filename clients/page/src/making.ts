// Asking what a new API key is for, which applications it reaches, and how long it holds.
import type { NewApiKey } from "runtime-memory-client";
import { endOf, today } from "./dates.js";
import { ask } from "./dialogs.js";
import { focus, fresh, h } from "./dom.js";
import { bare } from "./source.js";
import { t } from "./strings.js";
import type { Context } from "./view.js";

/** Ask for a new key; `made` is given it once the question is closed, `again` is called once something was sent. */
export function askForKey(context: Context, made: (key: NewApiKey) => void, again: () => void): void {
  const name = field(t.keyName, { autocomplete: "off" });
  const reach = reaching(context);
  const lastDay = field(t.lastDay, { type: "date", min: today(), max: "9999-12-31" }, t.lastDayHint);

  function wrong(input: HTMLInputElement, why: string): false {
    question.explain(why);
    focus(input);
    return false;
  }

  function read(): Asked | false {
    const said = { name: name.input.value.trim(), ...reach.read() };
    const until = lastDay.input.value;
    if (!said.name) return wrong(name.input, t.nameMissing);
    if (said.application === "") return wrong(reach.input, t.applicationMissing);
    // A day of which only a part was typed is empty: it must not make a key that never ends.
    if (lastDay.input.validity.badInput) return wrong(lastDay.input, t.dayUnreadable);
    if (until !== "" && until < today()) return wrong(lastDay.input, t.dayPast);
    return until === "" ? said : { ...said, expires_at: endOf(until) };
  }

  let key: NewApiKey | undefined;
  const make = async () => {
    const asked = read();
    if (asked === false) return false;
    try {
      key = await context.source.client.createApiKey(asked);
    } finally {
      again();
    }
    return true;
  };
  const content = [...name.parts, reach.element, ...lastDay.parts];
  const question = ask(context, { title: t.makeKeyTitle, content, act: t.makeKeyDo, do: make, then: () => key && made(key) });
  focus(name.input);
}

interface Reach {
  application?: string;
  all_applications?: boolean;
}

type Asked = Reach & { name: string; expires_at?: string };

/** One application, by its name, or all of the person's. */
function reaching(context: Context): { element: HTMLElement; input: HTMLInputElement; read: () => Reach } {
  const [group, known] = [fresh("reach"), fresh("known")];
  const choice = (checked: boolean) => h("input", { type: "radio", name: group, checked, onchange: show });
  const [one, all] = [choice(true), choice(false)];
  const { input, parts } = field(t.applicationName, { list: known, autocomplete: "off", spellcheck: "false", maxlength: "262" });
  const which = h("div", { class: "which" }, ...parts, knownApplications(context, known));

  function show(): void {
    which.hidden = all.checked;
  }

  const element = h(
    "fieldset",
    {},
    h("legend", {}, t.reach),
    h("label", { class: "check" }, one, t.oneApplication),
    which,
    h("label", { class: "check" }, all, t.allOfMine),
  );
  return { element, input, read: () => (all.checked ? { all_applications: true } : { application: input.value.trim() }) };
}

/** The applications that remember something, to choose from. Another one is typed, also when these do not come. */
function knownApplications(context: Context, id: string): HTMLElement {
  const list = h("datalist", { id });
  void context.source.client.applications({ signal: context.signal }).then(
    (found) => list.append(...found.map((one) => h("option", { value: bare(one.app) }))),
    () => undefined,
  );
  return list;
}

function field(
  label: string,
  more: Record<string, string>,
  hint?: string,
): { input: HTMLInputElement; parts: HTMLElement[] } {
  const [id, hintId] = [fresh("field"), fresh("hint")];
  const input = h("input", { id, ...more, "aria-describedby": hint === undefined ? null : hintId });
  const parts = [h("label", { for: id }, label), input];
  return { input, parts: hint === undefined ? parts : [...parts, h("span", { class: "hint", id: hintId }, hint)] };
}
