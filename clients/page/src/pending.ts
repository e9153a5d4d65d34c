// Memories that are about to be forgotten: for five seconds it can be undone, then it is sent. Leaving sends it at once.
import type { RuntimeMemory } from "runtime-memory-client";
import type { Source } from "./source.js";

const UNDO_WITHIN = 5000;

interface Pending {
  timer: number;
  send: (keepalive: boolean) => Promise<void>;
}

const pending = new Map<string, Pending>();
const forgotten = new Set<string>();

export interface Outcome {
  done: () => void;
  failed: (error: unknown) => void;
}

let outcomes = new Map<string, Outcome>();

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
      outcomes.get(memory.id)?.done();
    } catch (error) {
      outcomes.get(memory.id)?.failed(error);
    }
  };
  pending.set(memory.id, { timer: window.setTimeout(() => void send(false), UNDO_WITHIN), send });
}

/** Who shows a memory hears what became of it. */
export function hear(memoryId: string, outcome: Outcome): void {
  outcomes.set(memoryId, outcome);
}

/** Forget who shows what: another view comes. */
export function hearNothing(): void {
  outcomes = new Map();
}

/** Keep a memory after all. */
export function undo(memoryId: string): void {
  clearTimeout(pending.get(memoryId)?.timer);
  pending.delete(memoryId);
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
