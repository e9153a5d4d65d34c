// One request: what is sent, what is read, and which error a refusal becomes.
import { isExpired } from "./checks.js";
import { NetworkError, RunResponseError, TokenExpiredError } from "./errors.js";

/** What may be said of any call. */
export interface CallOptions {
  /** Ends the call: it then throws what the signal's `reason` is. */
  signal?: AbortSignal | undefined;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** One request to a service. */
export interface Call extends CallOptions {
  url: string;
  method?: Method;
  /** Without a token the browser's own session, if there is one, is the credential. */
  token?: string | undefined;
  body?: unknown;
  headers?: Readonly<Record<string, string>> | undefined;
  /** For another transport than the platform's own `fetch`. */
  fetch?: typeof fetch | undefined;
  /** Lets a request finish after its page was left. */
  keepalive?: boolean;
}

/** Send a request and read its JSON. Throws NetworkError, TokenExpiredError, RunResponseError. */
export async function send(call: Call): Promise<Record<string, unknown>> {
  return objectOf(await (await answerOf(call)).text());
}

/** Send a request and give its body as it came. Throws as `send` does. */
export async function sendForBlob(call: Call): Promise<Blob> {
  return (await answerOf(call)).blob();
}

/** A query of those members that say something; "" when none does. */
export function queryOf(members: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return text && `?${text}`;
}

async function answerOf(call: Call): Promise<Response> {
  const response = await reach(call);
  if (response.ok) return response;
  const body = objectOf(await response.text().catch(() => ""));
  if (response.status === 401 && call.token !== undefined && isExpired(call.token)) {
    throw new TokenExpiredError(response, body);
  }
  throw new RunResponseError(response, body);
}

async function reach(call: Call): Promise<Response> {
  try {
    return await (call.fetch ?? fetch)(call.url, {
      method: call.method ?? "GET",
      headers: headersOf(call),
      credentials: "include",
      ...(call.body === undefined ? {} : { body: call.body instanceof Blob ? call.body : JSON.stringify(call.body) }),
      ...(call.signal === undefined ? {} : { signal: call.signal }),
      ...(call.keepalive ? { keepalive: true } : {}),
    });
  } catch (error) {
    if (call.signal?.aborted) throw call.signal.reason;
    throw new NetworkError("The service was not reached.", { cause: error });
  }
}

function headersOf(call: Call): Record<string, string> {
  return {
    Accept: "application/json",
    "Content-Type": "application/json",
    ...(call.token === undefined ? {} : { Authorization: `Bearer ${call.token.trim()}` }),
    ...((call.method ?? "GET") === "GET"
      ? { "Cache-Control": "no-store, no-cache, must-revalidate", Pragma: "no-cache" }
      : {}),
    ...call.headers,
  };
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // What is no JSON says nothing that a caller could read.
  }
  return {};
}
