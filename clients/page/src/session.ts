// Signing in and out. The token goes to the service once and comes back in a cookie that no script reads.
import { NetworkError, RunResponseError } from "runtime-memory-client";
import { MARK } from "./source.js";
import { t } from "./strings.js";

const PATH = "/memories/session";

export interface Session {
  person: string;
  service: string;
}

/** Who is signed in; null when nobody is. Throws when that cannot be known. */
export async function current(): Promise<Session | null> {
  const response = await fetch(PATH, { headers: MARK });
  if (response.status === 401 || response.status === 403) return null;
  return read(response);
}

/** Start a session. Throws with the service's sentence when the token does not hold. */
export async function signIn(token: string): Promise<Session> {
  const headers = { ...MARK, "Content-Type": "application/json" };
  return read(await fetch(PATH, { method: "POST", headers, body: JSON.stringify({ token }) }));
}

/** End the session of this browser. */
export async function signOut(): Promise<void> {
  await read(await fetch(PATH, { method: "DELETE", headers: MARK }));
}

/** What went wrong, in a sentence for the person. */
export function sentence(error: unknown): string {
  return error instanceof NetworkError || error instanceof TypeError || !(error instanceof Error)
    ? t.notReached
    : error.message;
}

/** Whether an error says that nobody is signed in any more. */
export function ended(error: unknown): boolean {
  return error instanceof RunResponseError && error.status === 401;
}

async function read(response: Response): Promise<Session> {
  const said = (await response.json()) as Session & Record<string, unknown>;
  if (!response.ok) throw new RunResponseError(response, said);
  return said;
}
