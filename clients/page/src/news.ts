// What becomes of a memory, told to everything on the page that shows it: a list and what a search found in it.
import type { RuntimeMemory } from "runtime-memory-client";

export type News =
  | { kind: "waiting" }
  | { kind: "kept"; error?: unknown }
  | { kind: "gone" }
  | { kind: "changed"; memory: RuntimeMemory };

interface Listener {
  item: HTMLElement;
  hears: (news: News) => void;
}

let listeners = new Map<string, Listener[]>();

/** Have an item of the page hear what becomes of its memory, for as long as it is on the page. */
export function hear(memoryId: string, item: HTMLElement, hears: (news: News) => void): void {
  listeners.set(memoryId, [...on(memoryId), { item, hears }]);
}

/** Tell what became of a memory. */
export function tell(memoryId: string, news: News): void {
  const hearing = on(memoryId);
  listeners.set(memoryId, hearing);
  for (const { hears } of hearing) hears(news);
}

/** Nothing on the page hears any more: another view comes. */
export function hearNothing(): void {
  listeners = new Map();
}

function on(memoryId: string): Listener[] {
  return (listeners.get(memoryId) ?? []).filter(({ item }) => item.isConnected);
}
