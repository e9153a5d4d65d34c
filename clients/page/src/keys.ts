// The person's API keys: what programs present in their name. Made, shown once, listed, revoked.
import type { ApiKey, NewApiKey } from "runtime-memory-client";
import { moment } from "./dates.js";
import { ask } from "./dialogs.js";
import { button, fill, focus, fresh, h, quiet } from "./dom.js";
import { askForKey } from "./making.js";
import { notice } from "./notices.js";
import { bare } from "./source.js";
import { t } from "./strings.js";
import { heading, loaded, time } from "./view.js";
import type { Context } from "./view.js";

/** What an operator gave a key that acts for other people. */
const FOR_OTHERS = "users:impersonate";

/** The view. */
export function keysView(context: Context): Node[] {
  const title = heading(t.keysTitle);
  const shownOnce = h("div", { class: "once" });
  const place = h("div", {}, list());
  const again = () => place.replaceChildren(list());
  // The key is gone from the page with the view: a browser may bring back a page that was left.
  addEventListener("pagehide", () => fill(shownOnce), { signal: context.signal });

  function list(): HTMLElement {
    return loaded(context, async () => {
      const keys = await context.source.client.listApiKeys({ signal: context.signal });
      if (keys.length === 0) return [h("p", { class: "empty" }, t.noKeys)];
      return [h("ul", { class: "rows" }, ...keys.reverse().map((one) => keyItem(one, () => askToRevoke(context, one, again, title))))];
    });
  }

  function made(key: NewApiKey): void {
    const kept = () => {
      fill(shownOnce);
      focus(make);
    };
    const named = h("h2", { tabindex: "-1", dir: "auto" }, t.newKey(key.name));
    fill(shownOnce, named, ...secret(key.key), h("div", { class: "line" }, copying(shownOnce, key.key), quiet(t.kept, kept)));
    focus(named);
  }

  const make = button(t.makeKey, () => askForKey(context, made, again));
  return [title, h("p", { class: "lead" }, t.keysLead), h("div", { class: "line" }, make), shownOnce, place];
}

function keyItem(one: ApiKey, revoke: () => void): HTMLLIElement {
  const name = h("span", { class: "name", id: fresh("key"), dir: "auto" }, one.name);
  const facts = h("p", { class: "facts" });
  const fact = (...words: (Node | string)[]) => facts.append(h("span", { class: "fact" }, ...words));
  fact(h("code", {}, `${one.prefix}…`));
  fact(one.application === null ? t.forAll : t.forOne(bare(one.application)));
  fact(time(one.created_at, t.madeAt(moment(one.created_at))));
  fact(one.last_used_at === null ? t.neverUsed : time(one.last_used_at, t.lastUsed(moment(one.last_used_at))));
  const over = one.expires_at !== null && Date.parse(one.expires_at) <= Date.now();
  if (one.expires_at !== null && !over) fact(time(one.expires_at, t.endsAt(moment(one.expires_at))));
  if (over) facts.append(h("span", { class: "mark past" }, t.ended(moment(one.expires_at))));
  if (one.scopes.includes(FOR_OTHERS)) facts.append(h("span", { class: "mark" }, t.forOthers));
  return h("li", {}, name, facts, h("div", { class: "actions" }, quiet(t.revoke, revoke, { "aria-describedby": name.id })));
}

/** The key itself, as text: a field's content would be kept by browsers that restore what was typed. */
function secret(key: string): Node[] {
  return [h("p", {}, t.newKeyLead), h("code", { class: "secret" }, key), h("p", { class: "hint" }, t.keyUse)];
}

function copying(place: HTMLElement, key: string): HTMLButtonElement {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(key);
      notice(t.copied);
    } catch {
      // No clipboard here: not an encrypted address, or not allowed.
      const text = place.querySelector(".secret");
      if (text) getSelection()?.selectAllChildren(text);
      notice(t.copyByHand);
    }
  };
  return button(t.copy, () => void copy());
}

function askToRevoke(context: Context, one: ApiKey, again: () => void, title: HTMLElement): void {
  const revoke = async () => {
    try {
      await context.source.client.revokeApiKey(one.id);
    } finally {
      again();
    }
    notice(t.keyRevoked);
  };
  const content = [h("p", {}, t.revokeLead(`${one.prefix}…`))];
  ask(context, { title: t.revokeTitle(one.name), content, act: t.revokeDo, harmful: true, do: revoke, then: () => focus(title) });
}
