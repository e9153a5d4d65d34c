// What is checked before anything is sent, with the sentences that callers already know.

const LETTERS = /^[A-Za-z0-9_-]+$/;

/** Throws when a text is missing or blank. */
export function required(value: string, what: string): void {
  if (!value || !value.trim()) throw new Error(`${what} is required`);
}

/** Throws when a token cannot be a usable JWT: its form and its times. The signature is the service's to check. */
export function checkToken(token: string): void {
  if (!token || !token.trim()) throw new Error("Authentication token is required");
  const whole = token.trim();
  const [header, payload, signature] = partsOf(whole);
  if (whole.length < 100) throw new Error("Invalid token format: Token is too short to be a valid JWT");
  if (whole.length > 5000) throw new Error("Invalid token format: Token exceeds maximum expected length");
  if (!jsonOf(header, "header")["alg"]) throw new Error("Invalid token format: Missing algorithm in JWT header");
  const claims = jsonOf(payload, "payload");
  if (expired(claims)) throw new Error("Token has expired");
  if (Number(claims["nbf"] ?? 0) > now()) throw new Error("Token is not yet valid");
  if (signature.length < 20) throw new Error("Invalid token format: JWT signature is too short");
}

/** Whether a token says that its time is over. */
export function isExpired(token: string): boolean {
  try {
    return expired(jsonOf(partsOf(token.trim())[1], "payload"));
  } catch {
    return false;
  }
}

function partsOf(token: string): [string, string, string] {
  const parts = token.split(".");
  const [header, payload, signature] = parts;
  if (parts.length !== 3 || header === undefined || payload === undefined || signature === undefined) {
    throw new Error("Invalid token format: JWT must have three parts separated by dots");
  }
  parts.forEach((part, index) => {
    if (!part) throw new Error(`Invalid token format: Part ${index + 1} is empty`);
    if (!LETTERS.test(part)) throw new Error(`Invalid token format: Part ${index + 1} contains invalid characters`);
  });
  return [header, payload, signature];
}

function jsonOf(part: string, name: "header" | "payload"): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(atob(part.replace(/-/g, "+").replace(/_/g, "/")));
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below, without what the token holds.
  }
  throw new Error(`Invalid token format: JWT ${name} is not valid base64-encoded JSON`);
}

function expired(claims: Record<string, unknown>): boolean {
  const at = Number(claims["exp"] ?? 0);
  return at !== 0 && at < now();
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}
