// The page's sentences in the language that the person reads.
import { en } from "./english.js";
import type { Strings } from "./english.js";
import { de } from "./german.js";
import { write } from "./language.js";

const LANGUAGES: Record<string, Strings> = { en, de };
const KEPT = "memory-language";

/** Which of the page's languages that is. */
export let code = "en";

/** The sentences of the language in use. */
export let t: Strings = en;

/** Use a language from now on, and keep that for the next time. */
export function speak(wanted: string, keep = false): void {
  code = wanted in LANGUAGES ? wanted : "en";
  write(navigator.languages.find((one) => one.slice(0, 2).toLowerCase() === code) ?? code);
  t = LANGUAGES[code] ?? en;
  document.documentElement.lang = code;
  if (keep) localStorage.setItem(KEPT, code);
}

/** The language that was chosen before, or else the first one of the browser's that the page has. */
export function chosen(): string {
  const known = [localStorage.getItem(KEPT) ?? "", ...navigator.languages.map((one) => one.slice(0, 2).toLowerCase())];
  return known.find((one) => one in LANGUAGES) ?? "en";
}

/** Each language with its own name. */
export function languages(): [string, string][] {
  return Object.entries(LANGUAGES).map(([code, strings]) => [code, strings.name]);
}
