// The same as methods of one object that knows the token and where the services are, and all else that they do.
import { checkToken, required } from "./checks.js";
import { queryOf, send, sendForBlob } from "./request.js";
import type { Call, CallOptions } from "./request.js";
import * as runtimes from "./runtimes.js";
import type { ListOptions } from "./runtimes.js";
import type * as types from "./types.js";

export interface ClientOptions {
  /** A token, or what gives the one to use now. Without it the browser's own session is the credential. */
  token?: string | (() => string | Promise<string>);
  /** Where the platform is; null where a runtime on the local store stands alone. */
  baseUrl?: string | null;
  /** Where the runtime is: learning, searching and recalling are done there. */
  runtimeUrl?: string;
  headers?: Readonly<Record<string, string>>;
  fetch?: typeof fetch;
}

export interface PageOptions extends CallOptions {
  limit?: number;
  offset?: number;
}

export interface FindOptions extends CallOptions {
  limit?: number;
  threshold?: number;
}

type Request = Omit<Call, "url" | "token" | "headers" | "fetch">;

const APPS = "/api/v1/apps";
const STATES = "/api/memory";

/** Reaches what applications remember of one person. */
export class AgentRuntimesClient {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions = {}) {
    this.#options = options;
  }

  // On the platform: no runtime has to run.

  async listRuntimeMemories(options: ListOptions = {}): Promise<types.MemoryList> {
    const said = await this.#platform(`/memories${runtimes.listQuery(options)}`, { signal: options.signal });
    return runtimes.memoryList(said, options);
  }

  async getRuntimeMemory(memoryId: string, options: CallOptions = {}): Promise<types.RuntimeMemory> {
    return (await this.#send(this.#memory(memoryId), options))["memory"] as types.RuntimeMemory;
  }

  async correctRuntimeMemory(memoryId: string, memory: string, options: CallOptions = {}): Promise<types.RuntimeMemory> {
    required(memory, "What it should remember");
    const said = await this.#send(this.#memory(memoryId), { method: "PATCH", body: { memory }, ...options });
    return said["memory"] as types.RuntimeMemory;
  }

  async forgetRuntimeMemory(memoryId: string, options: CallOptions & { keepalive?: boolean } = {}): Promise<number> {
    return runtimes.forgotten(await this.#send(this.#memory(memoryId), { method: "DELETE", ...options })).forgotten;
  }

  async forgetRuntimeMemories(agentId: string, count: number, options: CallOptions = {}): Promise<number> {
    required(agentId, "Agent id");
    runtimes.confirmed(count);
    const query = queryOf({ agent_id: agentId.trim(), count });
    return runtimes.forgotten(await this.#platform(`/memories${query}`, { method: "DELETE", ...options })).forgotten;
  }

  async listRuntimeMemoryShares(
    of: { source?: string; reader?: string } = {},
    options: CallOptions = {},
  ): Promise<types.RuntimeMemoryShare[]> {
    const query = queryOf({ source: of.source?.trim(), reader: of.reader?.trim() });
    return runtimes.listOf((await this.#platform(`/memory-shares${query}`, options))["shares"]);
  }

  async allowRuntimeMemoryShare(
    source: string,
    reader: string,
    options: CallOptions = {},
  ): Promise<types.RuntimeMemoryShare> {
    const body = runtimes.pair(source, reader);
    return (await this.#platform("/memory-shares", { method: "PUT", body, ...options }))[
      "share"
    ] as types.RuntimeMemoryShare;
  }

  async stopRuntimeMemoryShare(source: string, reader: string, options: CallOptions = {}): Promise<void> {
    const query = queryOf(runtimes.pair(source, reader));
    await this.#platform(`/memory-shares${query}`, { method: "DELETE", ...options });
  }

  /** What became of one memory, oldest first. */
  async history(memoryId: string, options: CallOptions = {}): Promise<types.Revision[]> {
    return runtimes.listOf((await this.#send(`${this.#memory(memoryId)}/history`, options))["history"]);
  }

  // On either: of the platform, or of a runtime that stands alone.

  /** The applications that remember something of the person. */
  async applications(options: CallOptions = {}): Promise<types.RememberingApplication[]> {
    return runtimes.listOf((await this.#either("/memory-applications", options))["applications"]);
  }

  /** What was forgotten, newest first: when and how much, never what. */
  async receipts({ signal, ...page }: PageOptions = {}): Promise<types.Receipt[]> {
    return runtimes.listOf((await this.#either(`/memory-receipts${queryOf(page)}`, { signal }))["receipts"]);
  }

  /** Who looked in the person's name, newest first. */
  async access({ signal, ...page }: PageOptions = {}): Promise<types.Access[]> {
    return runtimes.listOf((await this.#either(`/memory-access${queryOf(page)}`, { signal }))["access"]);
  }

  async listApiKeys(options: CallOptions = {}): Promise<types.ApiKey[]> {
    return runtimes.listOf((await this.#either("/api-keys", options))["keys"]);
  }

  /** A new key, for one application or in so many words for all; its text is in this answer only. */
  async createApiKey(
    key: { name?: string; application?: string; all_applications?: boolean; expires_at?: string },
    options: CallOptions = {},
  ): Promise<types.NewApiKey> {
    const said = await this.#either("/api-keys", { method: "POST", body: key, ...options });
    return said as unknown as types.NewApiKey;
  }

  async revokeApiKey(keyId: string, options: CallOptions = {}): Promise<void> {
    required(keyId, "Key id");
    await this.#either(`/api-keys/${encodeURIComponent(keyId)}`, { method: "DELETE", ...options });
  }

  // Snapshots, on the platform.

  async listSnapshots(options: CallOptions = {}): Promise<types.Snapshot[]> {
    return runtimes.listOf((await this.#send(this.#state("/states"), options))["states"]);
  }

  /** Everything that is remembered now. */
  async currentState(options: CallOptions = {}): Promise<types.MemoryState> {
    return (await this.#send(this.#state("/state"), options)) as unknown as types.MemoryState;
  }

  /** Keep what is remembered now. */
  async saveSnapshot(options: CallOptions = {}): Promise<types.MemoryState> {
    return (await this.#send(this.#state("/state"), { method: "POST", ...options })) as unknown as types.MemoryState;
  }

  async getSnapshot(snapshotId: string, options: CallOptions = {}): Promise<types.MemoryState> {
    return (await this.#send(this.#snapshot(snapshotId), options)) as unknown as types.MemoryState;
  }

  /** Replace what is remembered by a snapshot. */
  async restoreSnapshot(
    snapshotId: string,
    { respectForgotten, ...options }: CallOptions & { respectForgotten?: boolean } = {},
  ): Promise<types.MemoryState> {
    const url = this.#snapshot(snapshotId) + queryOf({ respect_forgotten: respectForgotten || undefined });
    return (await this.#send(url, { method: "POST", ...options })) as unknown as types.MemoryState;
  }

  /** A snapshot as a document that can be taken in again. */
  async downloadSnapshot(snapshotId: string, options: CallOptions = {}): Promise<Blob> {
    return sendForBlob(await this.#call(`${this.#snapshot(snapshotId)}?export=true`, options));
  }

  /** Keep a downloaded document as a snapshot. */
  async importSnapshot(document: Blob, options: CallOptions = {}): Promise<types.Snapshot> {
    const said = await this.#send(this.#state("/states"), { method: "POST", body: document, ...options });
    return said as unknown as types.Snapshot;
  }

  async deleteSnapshot(snapshotId: string, options: CallOptions = {}): Promise<void> {
    await this.#send(this.#snapshot(snapshotId), { method: "DELETE", ...options });
  }

  // On the runtime. An application is named by its uid, without `app:`.

  async learn(app: string, lesson: types.Lesson, options: CallOptions = {}): Promise<types.Learned> {
    return this.#send(this.#app(app), { method: "POST", body: lesson, ...options });
  }

  async search(app: string, query: string, { signal, ...how }: FindOptions = {}): Promise<types.Found> {
    const body = { query, ...how };
    return (await this.#send(this.#app(app, "/search"), { method: "POST", body, signal })) as unknown as types.Found;
  }

  async recall(
    app: string,
    query: string,
    { signal, ...how }: FindOptions & { max_tokens?: number; inject_memory_timestamps?: boolean } = {},
  ): Promise<types.Recalled> {
    const body = { query, ...how };
    return (await this.#send(this.#app(app, "/recall"), { method: "POST", body, signal })) as unknown as types.Recalled;
  }

  async listApplicationMemories(app: string, options: ListOptions = {}): Promise<types.MemoryList> {
    const said = await this.#send(this.#app(app) + runtimes.listQuery(options), { signal: options.signal });
    return runtimes.memoryList({ success: true, ...said }, options);
  }

  async correctApplicationMemory(
    app: string,
    memoryId: string,
    memory: string,
    options: CallOptions = {},
  ): Promise<types.RuntimeMemory> {
    required(memory, "What it should remember");
    const said = await this.#send(this.#app(app, id(memoryId)), { method: "PATCH", body: { memory }, ...options });
    return said["memory"] as types.RuntimeMemory;
  }

  async forgetApplicationMemory(
    app: string,
    memoryId: string,
    options: CallOptions & { keepalive?: boolean } = {},
  ): Promise<number> {
    const said = await this.#send(this.#app(app, id(memoryId)), { method: "DELETE", ...options });
    return runtimes.forgotten(said).forgotten;
  }

  async forgetApplicationMemories(app: string, count: number, options: CallOptions = {}): Promise<number> {
    runtimes.confirmed(count);
    const said = await this.#send(this.#app(app) + queryOf({ count }), { method: "DELETE", ...options });
    return runtimes.forgotten(said).forgotten;
  }

  async applicationHistory(app: string, memoryId: string, options: CallOptions = {}): Promise<types.Revision[]> {
    return runtimes.listOf((await this.#send(this.#app(app, `${id(memoryId)}/history`), options))["history"]);
  }

  #platformUrl(): string {
    const { baseUrl } = this.#options;
    if (baseUrl === null) throw new Error("This runtime stands alone: there is no platform beside it");
    return baseUrl ?? runtimes.DEFAULT_BASE_URL;
  }

  #runtimeUrl(): string {
    if (this.#options.runtimeUrl === undefined) throw new Error("runtimeUrl is required");
    return this.#options.runtimeUrl;
  }

  #memory(memoryId: string): string {
    return runtimes.memoryUrl(this.#platformUrl(), memoryId);
  }

  #state(path: string): string {
    return `${this.#platformUrl()}${STATES}${path}`;
  }

  #snapshot(snapshotId: string): string {
    required(snapshotId, "Snapshot id");
    return this.#state(`/state/${encodeURIComponent(snapshotId)}`);
  }

  #app(app: string, path = ""): string {
    required(app, "Application");
    return `${this.#runtimeUrl()}${APPS}/memories/${encodeURIComponent(app)}${path}`;
  }

  #platform(path: string, request: Request): Promise<Record<string, unknown>> {
    return this.#send(`${this.#platformUrl()}/api/runtimes/v1${path}`, request);
  }

  #either(path: string, request: Request): Promise<Record<string, unknown>> {
    if (this.#options.baseUrl === null) return this.#send(`${this.#runtimeUrl()}${APPS}${path}`, request);
    return this.#platform(path, request);
  }

  async #send(url: string, request: Request): Promise<Record<string, unknown>> {
    return send(await this.#call(url, request));
  }

  async #call(url: string, request: Request): Promise<Call> {
    const { token, headers, fetch } = this.#options;
    const said = typeof token === "function" ? await token() : token;
    if (said !== undefined) checkToken(said);
    return { ...request, url, token: said, headers, fetch };
  }
}

function id(memoryId: string): string {
  required(memoryId, "Memory id");
  return `/${encodeURIComponent(memoryId)}`;
}
