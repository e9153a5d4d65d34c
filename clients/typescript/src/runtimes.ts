// The platform's memory routes, as functions: the token first, the address of the service last.
import { checkToken, required } from "./checks.js";
import { queryOf, send } from "./request.js";
import type { CallOptions } from "./request.js";
import type { MemoryList, RuntimeMemory, RuntimeMemoryShare } from "./types.js";

/** Where the platform service is, unless a call says otherwise. */
export const DEFAULT_BASE_URL = "https://r1.datalayer.run";

const ROOT = "/api/runtimes/v1";

export interface ListOptions extends CallOptions {
  userId?: string;
  /** The application's key: `app:<uid>`. */
  agentId?: string;
  limit?: number;
  offset?: number;
  /** The `next` of the page before: it neither repeats nor skips. */
  cursor?: string;
  /** Only those with these words, the best first. */
  q?: string;
  showExpired?: boolean;
}

/** What applications remember of the caller, newest first. */
export async function listRuntimeMemories(
  token: string,
  options: ListOptions = {},
  baseUrl: string = DEFAULT_BASE_URL,
): Promise<MemoryList> {
  checkToken(token);
  const url = `${baseUrl}${ROOT}/memories${listQuery(options)}`;
  return memoryList(await send({ url, token, signal: options.signal }), options);
}

/** One of the caller's memories. */
export async function getRuntimeMemory(
  token: string,
  memoryId: string,
  baseUrl: string = DEFAULT_BASE_URL,
  options: CallOptions = {},
): Promise<{ success: boolean; message: string | undefined; memory: RuntimeMemory }> {
  checkToken(token);
  const said = await send({ url: memoryUrl(baseUrl, memoryId), token, ...options });
  return { success: !!said["success"], message: textOf(said["message"]), memory: said["memory"] as RuntimeMemory };
}

/** New words for one, in place. */
export async function correctRuntimeMemory(
  token: string,
  memoryId: string,
  memory: string,
  baseUrl: string = DEFAULT_BASE_URL,
  options: CallOptions = {},
): Promise<{ success: boolean; memory: RuntimeMemory }> {
  checkToken(token);
  const url = memoryUrl(baseUrl, memoryId);
  required(memory, "What it should remember");
  const said = await send({ url, method: "PATCH", token, body: { memory }, ...options });
  return { success: !!said["success"], memory: said["memory"] as RuntimeMemory };
}

/** Forget one. */
export async function forgetRuntimeMemory(
  token: string,
  memoryId: string,
  baseUrl: string = DEFAULT_BASE_URL,
  options: CallOptions = {},
): Promise<{ success: boolean; forgotten: number }> {
  checkToken(token);
  return forgotten(await send({ url: memoryUrl(baseUrl, memoryId), method: "DELETE", token, ...options }));
}

/** Forget all that an application remembers, no more than the count that was confirmed (409 when it grew). */
export async function forgetRuntimeMemories(
  token: string,
  agentId: string,
  count: number,
  baseUrl: string = DEFAULT_BASE_URL,
  options: CallOptions = {},
): Promise<{ success: boolean; forgotten: number }> {
  checkToken(token);
  required(agentId, "Agent id");
  confirmed(count);
  const url = `${baseUrl}${ROOT}/memories${queryOf({ agent_id: agentId.trim(), count })}`;
  return forgotten(await send({ url, method: "DELETE", token, ...options }));
}

/** What the caller allows applications to read of each other. */
export async function listRuntimeMemoryShares(
  token: string,
  of: { source?: string; reader?: string } = {},
  baseUrl: string = DEFAULT_BASE_URL,
  options: CallOptions = {},
): Promise<RuntimeMemoryShare[]> {
  checkToken(token);
  const query = queryOf({ source: of.source?.trim(), reader: of.reader?.trim() });
  const said = await send({ url: `${baseUrl}${ROOT}/memory-shares${query}`, token, ...options });
  return listOf<RuntimeMemoryShare>(said["shares"]);
}

/** Let `reader` use what `source` remembers of the caller. */
export async function allowRuntimeMemoryShare(
  token: string,
  source: string,
  reader: string,
  baseUrl: string = DEFAULT_BASE_URL,
  options: CallOptions = {},
): Promise<RuntimeMemoryShare> {
  checkToken(token);
  const body = pair(source, reader);
  const said = await send({ url: `${baseUrl}${ROOT}/memory-shares`, method: "PUT", token, body, ...options });
  return said["share"] as RuntimeMemoryShare;
}

/** Stop sharing. */
export async function stopRuntimeMemoryShare(
  token: string,
  source: string,
  reader: string,
  baseUrl: string = DEFAULT_BASE_URL,
  options: CallOptions = {},
): Promise<void> {
  checkToken(token);
  const query = queryOf(pair(source, reader));
  await send({ url: `${baseUrl}${ROOT}/memory-shares${query}`, method: "DELETE", token, ...options });
}

/** The query of a list: trimmed, within bounds, and nothing of what is not said. */
export function listQuery(options: ListOptions): string {
  return queryOf({
    user_id: options.userId?.trim(),
    agent_id: options.agentId?.trim(),
    limit: within(options.limit, 1, 1000),
    offset: within(options.offset, 0, Number.MAX_SAFE_INTEGER),
    cursor: options.cursor,
    q: options.q?.trim(),
    show_expired: options.showExpired || undefined,
  });
}

/** A list as it is read, whatever members are missing. */
export function memoryList(said: Record<string, unknown>, asked: ListOptions): MemoryList {
  return {
    success: !!said["success"],
    message: textOf(said["message"]),
    count: Number(said["count"] ?? 0),
    total: said["total"] === undefined ? undefined : Number(said["total"]),
    next: textOf(said["next"]) ?? null,
    limit: Number(said["limit"] ?? asked.limit ?? 100),
    offset: Number(said["offset"] ?? asked.offset ?? 0),
    user_id: textOf(said["user_id"]),
    memories: listOf<RuntimeMemory>(said["memories"]),
  };
}

/** A member that should be a list. */
export function listOf<Item>(value: unknown): Item[] {
  return Array.isArray(value) ? (value as Item[]) : [];
}

/** Throws when a count was not confirmed. */
export function confirmed(count: number): void {
  if (!Number.isInteger(count) || count < 0) throw new Error(`Forgetting needs the count confirmed, not ${count}.`);
}

/** Both applications of an allowance, trimmed. Throws when one is missing. */
export function pair(source: string, reader: string): { source: string; reader: string } {
  required(source, "The application remembering");
  required(reader, "The application reading");
  return { source: source.trim(), reader: reader.trim() };
}

/** Where one memory is. Throws when it is not named. */
export function memoryUrl(baseUrl: string, memoryId: string): string {
  required(memoryId, "Memory id");
  return `${baseUrl}${ROOT}/memories/${encodeURIComponent(memoryId)}`;
}

/** What a forgetting answers. */
export function forgotten(said: Record<string, unknown>): { success: boolean; forgotten: number } {
  return { success: !!said["success"], forgotten: Number(said["forgotten"] ?? 0) };
}

function within(value: number | undefined, least: number, most: number): number | undefined {
  if (typeof value !== "number" || !Number.isFinite(value)) return undefined;
  return Math.max(least, Math.min(most, Math.floor(value)));
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
