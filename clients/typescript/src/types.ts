// What the services answer, as they answer it.

/** One remembered thing. */
export interface RuntimeMemory {
  id: string;
  memory?: string | null;
  hash?: string | null;
  user_id?: string | null;
  /** The application's key: `app:<uid>`. */
  agent_id?: string | null;
  run_id?: string | null;
  actor_id?: string | null;
  role?: string | null;
  scope?: string | null;
  created_at?: string | null;
  updated_at?: string | null;
  corrected_by?: string | null;
  corrected_at?: string | null;
  expiration_date?: string | null;
  expired?: boolean;
  categories?: string[];
  metadata?: Record<string, unknown> | null;
  /** How well it answers, 0–1; in what a search finds. */
  score?: number;
  /** The application that remembered it, when it is not the one asked. */
  remembered_by?: string;
}

export interface MemoryList {
  success: boolean;
  message: string | undefined;
  count: number;
  /** How many there are in all. */
  total: number | undefined;
  /** Where the following page starts: give it back as `cursor`; null on the last one. */
  next: string | null;
  limit: number;
  offset: number;
  user_id: string | undefined;
  memories: RuntimeMemory[];
}

/** `reader` may use what `source` remembers of the person; both `app:<uid>`. */
export interface RuntimeMemoryShare {
  source: string;
  reader: string;
  allowed_at?: string;
}

/** An application that remembers something of the person. */
export interface RememberingApplication {
  app: string;
  total: number;
  first_at: string | null;
  last_at: string | null;
}

/** What became of a memory, once. */
export interface Revision {
  id: string;
  memory_id: string;
  event: "ADD" | "UPDATE" | "DELETE" | "NONE";
  old_memory: string | null;
  new_memory: string | null;
  person: string;
  app: string;
  actor: string;
  on_behalf_of: string | null;
  door: string;
  at: string;
}

/** That something was forgotten; never what. */
export interface Receipt {
  id: string;
  app: string | null;
  verb: string;
  forgotten: number;
  actor: string;
  door: string;
  at: string;
  held_by_snapshots: number;
}

/** Who reached the person's memories in their name. */
export interface Access {
  actor: string;
  verb: string;
  door: string;
  app: string | null;
  memories: number;
  at: string;
}

/** A snapshot, without its content. */
export interface Snapshot {
  id: string;
  created: string;
  counts: Record<string, number>;
  size: number;
}

export interface MemoryUnit {
  id: string;
  created: string | null;
  agentRef: string | null;
  text: string;
  [member: string]: unknown;
}

/** Everything that is remembered of a person. */
export interface MemoryState {
  id: string;
  userId: string;
  created: string;
  dataMemoryUnits: { id: string; revisions: { data: unknown; created: string }[] }[];
  shortTermMemoryUnits: MemoryUnit[];
  sessionMemoryUnits: MemoryUnit[];
  userMemoryUnits: MemoryUnit[];
  graphNodes: unknown[];
  graphRelationships: unknown[];
  /** After a restore: what it did. */
  restored?: { memories: number; cameBack: number; leftOut: number; replaced: number; notEmbedded: number };
}

export interface ApiKey {
  id: string;
  name: string;
  prefix: string;
  application: string | null;
  all_applications: boolean;
  scopes: string[];
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
}

/** A new key; `key` is its text, shown this once. */
export interface NewApiKey extends ApiKey {
  key: string;
}

export interface Message {
  role: string;
  content: string;
  name?: string;
  timestamp?: string;
}

/** What is to be learned: one memory in words, or the messages of a conversation. */
export interface Lesson {
  memory?: string;
  messages?: Message[];
  metadata?: Record<string, unknown>;
  run_id?: string;
  expiration_date?: string;
  timestamp?: string;
  infer?: boolean;
  custom_instructions?: string;
  /** Answer with what was learned, not with the event that will learn it. */
  wait?: boolean;
}

/** `results` of what was learned, or the event that will learn it. */
export interface Learned {
  results?: { id: string; memory: string; event: string }[];
  event_id?: string;
  status?: string;
}

export interface Found {
  app: string;
  memories: RuntimeMemory[];
  /** Why nothing was read, when nothing was. */
  unread?: string;
}

/** What was found, and a block of it for an LLM. */
export interface Recalled extends Found {
  context: string;
}
