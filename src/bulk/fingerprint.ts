import { isRecord, contentLost } from "../schema/kind-of.ts";

// As many as can be sent (D16).
const mostValues = 200_000;

/**
 * The fingerprint of a value: a hash of its JSON, the same in whatever order the keys of its objects stand.
 * Throws where JSON cannot carry the value.
 */
export async function fingerprintOf(value: unknown): Promise<string> {
  // 96 bits: among a million rows two have the same with a probability of 6 in 10^18.
  return (await sha256(canonicalJson(value))).slice(0, 24);
}

/** The id of an event that has none: the same for the same parts, in every run and after a kill. */
export async function eventIdOf(...parts: readonly string[]): Promise<string> {
  return await sha256(JSON.stringify(parts));
}

/** In hexadecimal. By Web Crypto, which every runtime has. */
async function sha256(json: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(json));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function canonicalJson(value: unknown): string {
  let values = 0;
  const json = JSON.stringify(value, (_, each: unknown) => {
    // One object that stands in a row a billion times would be written for ever.
    if (++values > mostValues) throw new RangeError(`it holds more than ${mostValues} values`);
    if (!isRecord(each)) return each;
    // A Map or a Promise shows nothing in JSON: all of them would have one fingerprint.
    const lost = contentLost(each);
    if (lost !== undefined) throw new TypeError(`it holds ${lost}`);
    return Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
  if (json === undefined) throw new TypeError(`it is ${typeof value}`);
  return json;
}
