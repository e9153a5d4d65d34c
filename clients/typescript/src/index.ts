// What applications remember of a person: everything that this package has.
export { AgentRuntimesClient } from "./client.js";
export type { ClientOptions, FindOptions, PageOptions } from "./client.js";
export { NetworkError, RunResponseError, TokenExpiredError } from "./errors.js";
export type { CallOptions } from "./request.js";
export {
  DEFAULT_BASE_URL,
  allowRuntimeMemoryShare,
  correctRuntimeMemory,
  forgetRuntimeMemories,
  forgetRuntimeMemory,
  getRuntimeMemory,
  listRuntimeMemories,
  listRuntimeMemoryShares,
  stopRuntimeMemoryShare,
} from "./runtimes.js";
export type { ListOptions } from "./runtimes.js";
export type * from "./types.js";
