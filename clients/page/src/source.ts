// Where the page reads and writes: the platform, or a runtime on the local store that stands alone.
import { AgentRuntimesClient } from "runtime-memory-client";
import type { MemoryList, Revision, RuntimeMemory } from "runtime-memory-client";

/** What the page marks its own requests with: together with it, the session's cookie is a credential. */
export const MARK = { "X-Requested-With": "memory-page" };

export interface Reading {
  cursor?: string;
  limit?: number;
  showExpired?: boolean;
  signal?: AbortSignal;
}

/** What both services do for a person, said in the same way. `app` is an application's key. */
export interface Source {
  readonly client: AgentRuntimesClient;
  /** Whether a platform is there: sharing, snapshots, and search in everything at once. */
  readonly whole: boolean;
  list(app: string, how: Reading): Promise<MemoryList>;
  search(app: string | null, words: string, signal: AbortSignal): Promise<RuntimeMemory[]>;
  correct(memory: RuntimeMemory, words: string): Promise<RuntimeMemory>;
  forget(memory: RuntimeMemory, keepalive: boolean): Promise<unknown>;
  forgetAll(app: string, count: number): Promise<number>;
  history(memory: RuntimeMemory): Promise<Revision[]>;
}

/** The source that a service is. */
export function sourceOf(service: string): Source {
  const here = location.origin;
  return service === "runtime"
    ? runtime(new AgentRuntimesClient({ baseUrl: null, runtimeUrl: here, headers: MARK }))
    : platform(new AgentRuntimesClient({ baseUrl: here, headers: MARK }));
}

/** An application's uid, as a person reads it. */
export function bare(app: string | null | undefined): string {
  return (app ?? "").replace(/^app:/, "");
}

function platform(client: AgentRuntimesClient): Source {
  return {
    client,
    whole: true,
    list: (app, how) => client.listRuntimeMemories({ agentId: app, ...how }),
    async search(app, words, signal) {
      const where = app === null ? {} : { agentId: app };
      return (await client.listRuntimeMemories({ ...where, q: words, limit: 100, showExpired: true, signal })).memories;
    },
    correct: (memory, words) => client.correctRuntimeMemory(memory.id, words),
    forget: (memory, keepalive) => client.forgetRuntimeMemory(memory.id, { keepalive }),
    forgetAll: (app, count) => client.forgetRuntimeMemories(app, count),
    history: (memory) => client.history(memory.id),
  };
}

function runtime(client: AgentRuntimesClient): Source {
  const owned = (app: string) => (memory: RuntimeMemory) => ({ ...memory, agent_id: memory.remembered_by ?? app });
  const of = (memory: RuntimeMemory) => bare(memory.agent_id);
  return {
    client,
    whole: false,
    async list(app, how) {
      const page = await client.listApplicationMemories(bare(app), how);
      return { ...page, memories: page.memories.map(owned(app)) };
    },
    async search(app, words, signal) {
      if (app === null) return [];
      return (await client.search(bare(app), words, { limit: 20, signal })).memories.map(owned(app));
    },
    async correct(memory, words) {
      const after = await client.correctApplicationMemory(of(memory), memory.id, words);
      return { ...after, agent_id: memory.agent_id ?? null };
    },
    forget: (memory, keepalive) => client.forgetApplicationMemory(of(memory), memory.id, { keepalive }),
    forgetAll: (app, count) => client.forgetApplicationMemories(bare(app), count),
    history: (memory) => client.applicationHistory(of(memory), memory.id),
  };
}
