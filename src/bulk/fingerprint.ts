import { errorMessage, ignoreRejection } from "../values/error-message.ts";
import { contentLost } from "../values/kind-of.ts";
import { isRecord } from "../values/predicates.ts";
import type { Write } from "../write.ts";
import { type ReadRow, rowError, type RowIdentity } from "./rows.ts";

/**
 * What is compared over nights: the writes without their options but `consent`, or what `fingerprint` gives and the consents
 * of the writes. Undefined for writes that JSON cannot carry: their endpoints refuse them.
 */
export function comparedText<Row>(
  { item, writes }: Pick<ReadRow<Row>, "item" | "writes">,
  { fingerprint }: RowIdentity<Row>,
): string | undefined {
  if (fingerprint) {
    const given: unknown = fingerprint(item);
    ignoreRejection(given);
    try {
      return `${canonicalJson(given)} ${canonicalJson(writes.map(({ said }) => [...said]))}`;
    } catch (error) {
      throw rowError(
        `the result of \`fingerprint\` cannot be written as JSON (${errorMessage(error)}): return a string or a JSON value`,
      );
    }
  }
  try {
    return canonicalJson(writes.map(({ write }) => comparedWrite(write)));
  } catch {
    return undefined;
  }
}

/** A write as it is compared over nights: what is sent otherwise is no other write. */
export function comparedWrite({ options, ...write }: Write): object {
  return { ...write, options: { consent: (options as { consent?: unknown })?.consent } };
}

/** JSON, whatever the order of keys. Throws if JSON cannot carry the value. */
export function canonicalJson(value: unknown): string {
  const json = JSON.stringify(value, (_, each: unknown) => {
    if (!isRecord(each)) return each;
    // The JSON of a Map or a Promise is `{}`: all of them would have one fingerprint.
    const lost = contentLost(each);
    if (lost !== undefined) throw new TypeError(`it holds ${lost}`);
    return Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
  if (json === undefined) throw new TypeError(`it is ${typeof value}`);
  return json;
}
