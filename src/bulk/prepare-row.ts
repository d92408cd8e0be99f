// Before a row is sent it is compared with its record (its fingerprint), and its writes are validated.
import { ValidationError } from "../errors.ts";
import { sha256, shortHash } from "../hash.ts";
import type { OpenedClient } from "../open-client.ts";
import { prepareWrite, type RowWrite } from "../prepare-write.ts";
import { randomUuid } from "../runtime.ts";
import type { PreparedCall } from "../transport/call.ts";
import { copyAsJson } from "../values/copy-as-json.ts";
import { ignoreRejection } from "../values/in-words.ts";
import { isRecord } from "../values/predicates.ts";
import type { BulkSettings } from "./bulk-options.ts";
import { refusesOnly } from "./refusals.ts";
import { isInvalid } from "./result.ts";
import type { ReadRow } from "./rows.ts";
import type { RowRecord, RunRecord } from "./run-record.ts";

export interface RecordedRow {
  readonly name: string;
  readonly fingerprint: string;
  /** The row's version: the same after a kill, and another after each change of the row, even a change back. */
  readonly version: number;
  /** Gives an id to the next event of the row that has none of its own. Events of one name are told apart by their order. */
  readonly newEventId: (eventName: string) => string;
  /** The record of an earlier run, or of this run before a kill, or of a row before it with the same key. */
  readonly before: RowRecord | undefined;
  /** What is left to do. `once`: it may have been carried out, or an earlier version of it, and must not be repeated. */
  readonly fate: "new" | "changed" | "unchanged" | "inDoubt" | "once";
}

/**
 * Looks a row up in the record, which skips an unchanged one. Without a key it is known by its writes, and by how many rows before it have the same. Rejects
 * if JSON cannot carry what `fingerprint` gives.
 */
export async function recordedRow(
  row: ReadRow<unknown>,
  record: RunRecord,
  { fingerprint: fingerprintOf }: BulkSettings<never>,
): Promise<RecordedRow> {
  const rowText = comparedText(row, fingerprintOf);
  const key = row.key ?? `${record.countAlike(rowText)} ${rowText}`;
  const [name, fingerprint] = await Promise.all([shortHash(key), shortHash(rowText)]);
  const before = record.row(name);
  const version = before ? before.version + Number(before.fingerprint !== fingerprint) : 1;
  const hasEvent = row.writes.some(({ write }) => write.operation === "v1.events.send");
  const identity = JSON.stringify([record.run.id, key, `${version} ${fingerprint}`]);
  const eventId = hasEvent ? await sha256(identity) : "";
  const eventCounts = new Map<string, number>();
  const newEventId = (eventName: string): string => {
    const number = (eventCounts.get(eventName) ?? 0) + 1;
    eventCounts.set(eventName, number);
    return `${eventId}-${number}-${eventName}`;
  };
  const fate = fateOf(before, before?.fingerprint === fingerprint, record.onceRows.has(name));
  if (before && fate === "unchanged") record.skip(row, before);
  return { name, fingerprint, version, newEventId, before, fate };
}

/** `isOfThisRun`: another row of the run, with the same key, was put that must not be repeated. */
function fateOf(before: RowRecord | undefined, isSame: boolean, isOfThisRun: boolean): RecordedRow["fate"] {
  if (!before || before.state === "failed") return "new";
  if (before.state === "once" && (isSame || !isOfThisRun)) return "once";
  if (!isSame) return "changed";
  return before.state === "sent" ? "inDoubt" : "unchanged";
}

/**
 * What is compared over nights: the writes without their options but `consent`, or what `fingerprint` gives and the consents
 * of the writes. Empty for writes that JSON cannot carry: their endpoints refuse them.
 */
function comparedText(
  { item, writes }: ReadRow<unknown>,
  fingerprintOf: ((row: never) => unknown) | undefined,
): string {
  if (fingerprintOf) {
    // Safe: the row of the caller's own function.
    const fingerprint = fingerprintOf(item as never);
    ignoreRejection(fingerprint);
    const rowConsents = writes.map(({ consents }) => consents.map(({ consent }) => [...consent]));
    return `${canonicalJson(fingerprint, ["fingerprint"])} ${canonicalJson(rowConsents)}`;
  }
  try {
    return comparedJson(writes);
  } catch {
    return "";
  }
}

/** The JSON of writes that is compared: what is sent otherwise is no other write. Throws if JSON cannot carry it. */
export function comparedJson(writes: readonly RowWrite[]): string {
  const comparedWrites = writes.map(({ write: { options, ...write } }) => {
    return { ...write, options: { consent: (options as { consent?: unknown })?.consent } };
  });
  return canonicalJson(comparedWrites);
}

/** The same JSON whatever the order of keys. Throws a `ValidationError` of what JSON would lose: it would count as no change. */
function canonicalJson(value: unknown, path: readonly string[] = []): string {
  const { copy, lost } = copyAsJson(value, { takesNull: true });
  if (lost.length > 0)
    throw new ValidationError(lost.map((issue) => ({ ...issue, path: [...path, ...issue.path] })));
  return JSON.stringify(copy, (_, each: unknown) =>
    isRecord(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
  );
}

/**
 * Validates all writes of a row, and gives their calls. Throws a `ValidationError` with all issues; in an array their paths
 * begin with the index.
 */
export function prepareRow(
  opened: OpenedClient,
  writes: readonly RowWrite[],
  newEventId: RecordedRow["newEventId"] = randomUuid,
): PreparedCall[] {
  const issues: ValidationError["issues"][number][] = [];
  const preparedWrites: PreparedCall[] = [];
  const earlierContacts = new Set<string>();
  for (const [index, { contacts, write }] of writes.entries()) {
    try {
      preparedWrites.push(prepareWrite(opened, write, newEventId));
      if (index > 0 && !contacts.some((key) => earlierContacts.has(key)))
        issues.push({ path: [index], code: "unrelated", message: unrelatedMessage });
    } catch (error) {
      if (!isInvalid(error)) throw error;
      const rowPath = writes.length === 1 ? [] : [index];
      issues.push(...error.issues.map((issue) => ({ ...issue, path: [...rowPath, ...issue.path] })));
    }
    for (const key of contacts) earlierContacts.add(key);
  }
  if (issues.length > 0) throw new ValidationError(issues);
  return preparedWrites;
}

const unrelatedMessage =
  "must share an e-mail, a phone or a contactUUID with a write before it: a row is one person's";

/** Whether a row in doubt, with these writes, may be sent again. */
export function mayBeRepeated(writes: readonly RowWrite[], prepared: readonly PreparedCall[]): boolean {
  return refusesOnly(writes) || prepared.every(({ isRepeatable }) => isRepeatable);
}
