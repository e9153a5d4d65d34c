// What goes wrong, as errors of their own kind. None holds a token, and none quotes what was sent.

/** The service was not reached, or the connection broke. */
export class NetworkError extends Error {
  override readonly name = "NetworkError";
}

/** The service refused or failed; `message` is its sentence. */
export class RunResponseError extends Error {
  override readonly name: string = "RunResponseError";
  readonly response: Response;
  readonly status: number;
  /** The machine-readable reason, where the service gives one. */
  readonly code: string | undefined;
  readonly detail: unknown;
  readonly errors: unknown;
  readonly warnings: unknown;
  readonly traceback: unknown;
  /** The whole answer: a 409 carries the `total` there is now. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(response: Response, body: Readonly<Record<string, unknown>>) {
    super(sentenceOf(response, body));
    this.response = response;
    this.status = response.status;
    this.body = body;
    this.code = typeof body["code"] === "string" ? body["code"] : undefined;
    this.detail = body["detail"];
    this.errors = body["errors"];
    this.warnings = body["warnings"];
    this.traceback = body["traceback"];
  }
}

/** The token's time is over: sign in again. */
export class TokenExpiredError extends RunResponseError {
  override readonly name = "TokenExpiredError";
}

function sentenceOf(response: Response, body: Readonly<Record<string, unknown>>): string {
  const detail = body["detail"];
  const nested = typeof detail === "object" && detail !== null ? (detail as Record<string, unknown>)["message"] : null;
  for (const sentence of [body["message"], detail, nested]) {
    if (typeof sentence === "string" && sentence) return sentence;
  }
  return `Invalid response: ${response.status} ${response.statusText}`;
}
