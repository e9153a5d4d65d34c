// Times, in the person's own time zone and language.
import { language } from "./language.js";
import { t } from "./strings.js";

const DAY = 24 * 60 * 60 * 1000;

/** The person's time zone. */
export function zone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** A day: "3 March 2026". */
export function day(stored: string | null | undefined): string {
  return shown(stored, { dateStyle: "long" });
}

/** A day and its time: "3 March 2026 at 09:41". */
export function moment(stored: string | null | undefined): string {
  return shown(stored, { dateStyle: "long", timeStyle: "short" });
}

/** A time of day: "09:41". */
export function clock(stored: string | null | undefined): string {
  return shown(stored, { timeStyle: "short" });
}

/** The day as one says it: today, yesterday, or its weekday and date. */
export function dayName(stored: string | null | undefined): string {
  const at = dateOf(stored);
  if (at === null) return stored ?? "";
  const days = Math.round((midnight(new Date()) - midnight(at)) / DAY);
  if (days === 0) return t.today;
  if (days === 1) return t.yesterday;
  return new Intl.DateTimeFormat(language, { weekday: "long", day: "numeric", month: "long", year: "numeric" }).format(at);
}

/** A date without a time, which is the same day everywhere. */
export function calendarDay(date: string): string {
  const at = new Date(`${date}T00:00:00Z`);
  return Number.isNaN(at.getTime())
    ? date
    : new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" }).format(at);
}

/** The day that it is for the person, as a field for dates has it: `2026-03-03`. */
export function today(): string {
  const at = new Date();
  const two = (part: number) => String(part).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** The last second of a day of the person's. */
export function endOf(date: string): string {
  return new Date(`${date}T23:59:59`).toISOString();
}

function shown(stored: string | null | undefined, how: Intl.DateTimeFormatOptions): string {
  const at = dateOf(stored);
  return at === null ? (stored ?? "") : new Intl.DateTimeFormat(language, how).format(at);
}

function dateOf(stored: string | null | undefined): Date | null {
  const at = new Date(stored ?? "");
  return Number.isNaN(at.getTime()) ? null : at;
}

function midnight(at: Date): number {
  return new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime();
}
