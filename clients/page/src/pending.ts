// Memories that are about to be forgotten: for five seconds it can be undone, then it is sent. Leaving sends it at once.
import type { RuntimeMemory } from "runtime-memory-client";
import { tell } from "./news.js";
import type { Source } from "./source.js";

const UNDO_WITHIN = 5000;

interface Pending {
  timer: number;
  send: (keepalive: boolean) => Promise<void>;
}

const pending = new Map<string, Pending>();
const forgotten = new Set<string>();

/** Whether a memory is about to be forgotten. */
export function isPending(memoryId: string): boolean {
  return pending.has(memoryId);
}

/** Whether a memory was forgotten on this page: a list that was asked for before may still show it. */
export function isForgotten(memoryId: string): boolean {
  return forgotten.has(memoryId);
}

/** Forget a memory in five seconds. */
export function forgetSoon(source: Source, memory: RuntimeMemory): void {
  const send = async (keepalive: boolean) => {
    pending.delete(memory.id);
    try {
      await source.forget(memory, keepalive);
      forgotten.add(memory.id);
      tell(memory.id, { kind: "gone" });
    } catch (error) {
      tell(memory.id, { kind: "kept", error });
    }
  };
  pending.set(memory.id, { timer: window.setTimeout(() => void send(false), UNDO_WITHIN), send });
  tell(memory.id, { kind: "waiting" });
}

/** Keep a memory after all. */
export function undo(memoryId: string): void {
  clearTimeout(pending.get(memoryId)?.timer);
  pending.delete(memoryId);
  tell(memoryId, { kind: "kept" });
}

/** Send all that waits, now. */
export async function sendAll(keepalive = false): Promise<void> {
  await Promise.all(
    [...pending.values()].map((one) => {
      clearTimeout(one.timer);
      return one.send(keepalive);
    }),
  );
}

addEventListener("pagehide", () => void sendAll(true));
