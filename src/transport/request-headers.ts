import { ConfigurationError } from "../errors.ts";
import { kindOf } from "../schema/kind-of.ts";
import { rejectLost } from "../schema/option.ts";

/** Headers that frame the message, set by the runtime alone; and a name that an object of headers loses. */
const framing =
  /^(connection|content-length|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade|__proto__)$/i;

const afterName = /[^\w!#$%&'*+.^`|~-].*/s;

/** Reads the `headers` option: names in lower case, values that cannot break out of their line. Never shows a value. */
export function readHeaders(headers: unknown): Record<string, string> {
  const read = new Map<string, string>();
  for (const [name, value] of pairsOf(headers as object)) {
    if (value === undefined) continue;
    const lowerCase = name.toLowerCase();
    // In another case it is the same header, and one of the two would go unheard.
    const problem = read.has(lowerCase) ? "is given twice" : problemOf(name, value);
    // A whole line in the place of the name holds the value too, which can be a key.
    const shown = JSON.stringify(name.replace(afterName, "…"));
    if (problem) throw new ConfigurationError(`headers: ${shown} ${problem}.`);
    read.set(lowerCase, value as string);
  }
  return Object.fromEntries(read);
}

function pairsOf(headers: object): [string, unknown][] {
  // A Headers object gives nothing to Object.entries, and may be of another implementation than the global one.
  if (Symbol.iterator in headers) {
    const pairs: unknown[] = [...(headers as Iterable<unknown>)];
    if (pairs.every(isPair)) return pairs;
    throw new ConfigurationError("headers must be an object, or a Headers object.");
  }
  rejectLost(headers, "headers");
  return Object.entries(headers);
}

function isPair(entry: unknown): entry is [string, unknown] {
  return Array.isArray(entry) && typeof entry[0] === "string";
}

function problemOf(name: string, value: unknown): string | undefined {
  if (name === "" || afterName.test(name)) return "is not a header name";
  if (framing.test(name)) return "is set or dropped by the runtime";
  if (typeof value !== "string") return `must be a string, not ${kindOf(value)}`;
  if (/[^\t\u0020-\u007e\u0080-\u00ff]/.test(value))
    return "holds a character that no HTTP header can carry, such as a line break";
  return undefined;
}
