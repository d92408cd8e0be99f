import { sha256, shortHash } from "../hash.ts";
import { contentLost } from "../values/in-words.ts";
import { isRecord } from "../values/predicates.ts";
import type { Write } from "../write.ts";
import type { BulkSettings } from "./bulk-options.ts";
import type { ReadRow } from "./rows.ts";
import type { RowRecord, RunRecord } from "./run-record.ts";

export interface RecordedRow {
  readonly name: string;
  readonly fingerprint: string;
  /** The same after a kill, and another after each change of the row, even a change back. */
  readonly version: number;
  /** With it the ids of events begin; empty for a row that has none. */
  readonly eventId: string;
  /** Of an earlier run, or of this run before a kill, or of a row before it with the same key. */
  readonly before: RowRecord | undefined;
}

/**
 * Looks a row up in the record. Without a key it is known by its writes, and by how many rows before it have the same. Rejects
 * if JSON cannot carry what `fingerprint` gives.
 */
export async function recordedRow(
  row: ReadRow<unknown>,
  record: RunRecord,
  { fingerprint: give }: Pick<BulkSettings<never>, "fingerprint">,
): Promise<RecordedRow> {
  const text = comparedText(row, give);
  const key = row.key ?? `${record.countAlike(text)} ${text}`;
  const [name, fingerprint] = await Promise.all([shortHash(key), shortHash(text)]);
  const before = record.row(name);
  const version = before ? before.version + Number(before.fingerprint !== fingerprint) : 1;
  const hasEvent = row.writes.some(({ write }) => write.operation === "v1.events.send");
  const identity = JSON.stringify([record.id, key, `${version} ${fingerprint}`]);
  return { name, fingerprint, version, eventId: hasEvent ? await sha256(identity) : "", before };
}

/** What is left to do of a row. `once`: it may have been carried out, or an earlier version of it, and must not be repeated. */
export function fateOf(row: RecordedRow | undefined): "new" | "changed" | "unchanged" | "inDoubt" | "once" {
  if (!row?.before || row.before.state === "failed") return "new";
  if (row.before.state === "once") return "once";
  if (row.before.fingerprint !== row.fingerprint) return "changed";
  return row.before.state === "sent" ? "inDoubt" : "unchanged";
}

/**
 * What is compared over nights: the writes without their options but `consent`, or what `fingerprint` gives and the consents
 * of the writes. Empty for writes that JSON cannot carry: their endpoints refuse them.
 */
function comparedText(
  { item, writes }: ReadRow<unknown>,
  fingerprint: ((row: never) => unknown) | undefined,
): string {
  if (fingerprint) {
    // Safe: the row of the caller's own function.
    return `${canonicalJson(fingerprint(item as never))} ${canonicalJson(writes.map(({ said }) => [...said]))}`;
  }
  try {
    return canonicalJson(writes.map(({ write }) => comparedWrite(write)));
  } catch {
    return "";
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
    if (lost !== undefined)
      throw new TypeError(`A fingerprint must be a string or a JSON value: it holds ${lost}.`);
    return Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
  if (json === undefined)
    throw new TypeError(`A fingerprint must be a string or a JSON value: it is ${typeof value}.`);
  return json;
}
