import { isRecord, contentLost } from "../schema/kind-of.ts";

// The limit of a request (D16).
const mostValues = 200_000;

/**
 * The fingerprint of a value: a hash of its JSON, independent of the order of keys. Throws if JSON cannot carry the
 * value.
 */
export async function fingerprintOf(value: unknown): Promise<string> {
  // 96 bits: the probability that two of a million rows collide is 6 in 10^18.
  return (await sha256(canonicalJson(value))).slice(0, 24);
}

/** The generated id of an event: the same for the same parts, in every run and after a crash. */
export async function eventIdOf(...parts: readonly string[]): Promise<string> {
  return await sha256(JSON.stringify(parts));
}

/** In hexadecimal. Web Crypto exists on every runtime. */
async function sha256(json: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(json));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function canonicalJson(value: unknown): string {
  let values = 0;
  const json = JSON.stringify(value, (_, each: unknown) => {
    // A value that refers to one object a billion times would never end.
    if (++values > mostValues) throw new RangeError(`it holds more than ${mostValues} values`);
    if (!isRecord(each)) return each;
    // The JSON of a Map or a Promise is `{}`: all of them would have one fingerprint.
    const lost = contentLost(each);
    if (lost !== undefined) throw new TypeError(`it holds ${lost}`);
    return Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
  if (json === undefined) throw new TypeError(`it is ${typeof value}`);
  return json;
}
