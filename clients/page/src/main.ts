// Puts the page together: who is signed in, which view is asked for, and the frame around it.
import { activityView } from "./activity.js";
import { applicationView } from "./application.js";
import { zone } from "./dates.js";
import { button, fill, focus, fresh, h, quiet } from "./dom.js";
import { homeView } from "./home.js";
import { keysView } from "./keys.js";
import { hearNothing } from "./news.js";
import { noticeBoard } from "./notices.js";
import { sendAll } from "./pending.js";
import { sentence, signIn, signOut, current } from "./session.js";
import type { Session } from "./session.js";
import { sharingView } from "./sharing.js";
import { snapshotsView } from "./snapshots.js";
import { sourceOf } from "./source.js";
import type { Source } from "./source.js";
import { chosen, code, languages, speak, t } from "./strings.js";
import type { Context } from "./view.js";

const page = document.getElementById("page") as HTMLElement;
let session: Session | null = null;
let source: Source;
let showing = new AbortController();

type View = (context: Context) => Node[];

/** The view that the address asks for, and its name in the navigation. */
function viewOf(hash: string): [string, View] {
  const [, name = "", of = ""] = hash.split("/");
  if (name === "application" && of) return ["memories", (context) => applicationView(context, `app:${decoded(of)}`)];
  if (name === "sharing" && source.whole) return [name, sharingView];
  if (name === "snapshots" && source.whole) return [name, snapshotsView];
  if (name === "activity") return [name, activityView];
  if (name === "keys") return [name, keysView];
  return ["memories", homeView];
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function show(how: { focused: boolean }): void {
  if (session === null) return signInPage("");
  const { person } = session;
  showing.abort();
  showing = new AbortController();
  hearNothing();
  const [name, view] = viewOf(location.hash);
  const context = { source, person, signal: showing.signal, leave: () => left(t.sessionEnded) };
  const main = h("main", { id: "content", tabindex: "-1" }, ...view(context));
  fill(page, h("a", { class: "skip", href: "#content", onclick: skip }, t.skip), frame(name), main, account(person));
  const title = main.querySelector("h1");
  document.title = `${title?.textContent ?? t.title} – ${t.title}`;
  if (how.focused) {
    scrollTo(0, 0);
    focus(title);
  }
}

function skip(event: Event): void {
  event.preventDefault();
  focus(document.getElementById("content"));
}

function frame(name: string): HTMLElement {
  const links: [string, string, string][] = [["memories", "#/", t.memories]];
  if (source.whole) links.push(["sharing", "#/sharing", t.sharing], ["snapshots", "#/snapshots", t.snapshots]);
  links.push(["activity", "#/activity", t.activity], ["keys", "#/keys", t.keys]);
  const items = links.map(([link, href, label]) =>
    h("li", {}, h("a", { href, "aria-current": link === name ? "page" : null }, label)),
  );
  return h(
    "header",
    { class: "frame" },
    h("a", { class: "brand", href: "#/" }, h("img", { src: "/memories/assets/icon.svg", alt: "", width: 24, height: 24 }), t.title),
    h("nav", { "aria-label": t.sections }, h("ul", {}, ...items)),
  );
}

function account(person: string): HTMLElement {
  const leaving = quiet(t.signOut, () => void leave());
  return h(
    "footer",
    { class: "account" },
    h("p", {}, t.signedInAs(person)),
    h("p", { class: "faint" }, t.zone(zone())),
    h("div", { class: "line" }, languageChoice(), leaving),
  );
}

function languageChoice(): HTMLElement {
  const choice = h("select", {
    "aria-label": t.languageLabel,
    onchange: () => {
      speak(choice.value, true);
      show({ focused: false });
      focus(page.querySelector("select"));
    },
  });
  for (const [one, name] of languages()) {
    choice.append(h("option", { value: one, lang: one, selected: one === code }, name));
  }
  return choice;
}

async function leave(): Promise<void> {
  await sendAll();
  await signOut().catch(() => undefined);
  left(t.signedOut);
}

function left(why: string): void {
  showing.abort();
  session = null;
  signInPage(why);
}

function signInPage(why: string): void {
  const [id, hintId] = [fresh("token"), fresh("hint")];
  // Not a password field: browsers would offer to keep it, and a token ends by itself.
  const input = h("textarea", { id, rows: "4", autocomplete: "off", autocapitalize: "off", spellcheck: "false", "aria-describedby": hintId, class: "token" });
  const trouble = h("p", { class: "trouble", role: "alert" });
  const act = button(t.signIn, () => form.requestSubmit());
  const submit = async (event: Event) => {
    event.preventDefault();
    const token = input.value.trim();
    trouble.textContent = token ? "" : t.tokenMissing;
    if (!token) return focus(input);
    act.disabled = true;
    try {
      session = await signIn(token);
      start(session);
    } catch (error) {
      trouble.textContent = sentence(error);
      act.disabled = false;
      focus(input);
    }
  };
  const form = h("form", { class: "card", onsubmit: submit, novalidate: true }, h("label", { for: id }, t.tokenLabel), input, h("p", { class: "hint", id: hintId }, t.tokenHint), trouble, act);
  const title = h("h1", { tabindex: "-1" }, t.signInTitle);
  document.title = t.title;
  const icon = h("img", { src: "/memories/assets/icon.svg", alt: "", width: 40, height: 40 });
  fill(page, h("main", { class: "welcome" }, icon, title, h("p", { class: "lead" }, t.signInLead), why !== "" && h("p", { class: "notice-line", role: "status" }, why), form, languageChoice()));
}

function start(found: Session): void {
  source = sourceOf(found.service);
  show({ focused: true });
}

async function open(): Promise<void> {
  speak(chosen());
  document.body.append(...noticeBoard());
  try {
    session = await current();
  } catch (error) {
    const again = button(t.tryAgain, () => location.reload());
    return fill(page, h("main", { class: "welcome" }, h("h1", {}, t.title), h("p", { class: "trouble", role: "alert" }, sentence(error)), again));
  }
  if (session === null) signInPage("");
  else {
    source = sourceOf(session.service);
    show({ focused: false });
  }
}

addEventListener("hashchange", () => show({ focused: true }));
void open();
