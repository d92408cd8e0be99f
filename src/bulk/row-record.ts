import type { RecordedRow, RowState } from "./events.ts";

/** What the events about a row have come to. Strings and numbers alone: 100,000 rows take 30 MB of memory. */
export interface RowRecord {
  readonly state: RowState;
  /** An earlier version of the row may have been carried out, and must not be repeated. */
  readonly isInDoubt: boolean;
  /** The number of the row's version, from 1. */
  readonly version: number;
  /** The fingerprint of the row. */
  readonly print: string;
  /** The position of its last sending; 0 if there was none. */
  readonly sentAt: number;
  /** The position of its last success; before it, the begin of the run that first met it. */
  readonly placedAt: number;
  /** The position of its last event. */
  readonly lastAt: number;
  /** The position at which the service, or a snapshot, showed a refusal; 0 if it has succeeded since, or never did. */
  readonly supersededAt: number;
  /** The contacts that it speaks of (`statements.ts`). */
  readonly contacts: string;
}

/** A record after a change; `at` and `began` are the positions of the change, and of the begin of its run. */
export function changedRecord(
  before: RowRecord | undefined,
  { state, print, contacts, sentAt }: Pick<RowRecord, "state" | "print" | "contacts" | "sentAt">,
  { at, began }: { readonly at: number; readonly began: number },
): RowRecord {
  const hasSucceeded = state === "succeeded";
  const isShown = state === "superseded-service" || state === "superseded-snapshot";
  return {
    state,
    // A success ends an earlier doubt.
    isInDoubt: !hasSucceeded && (before?.isInDoubt === true || before?.state === "in-doubt"),
    version: before ? before.version + Number(before.print !== print) : 1,
    print,
    sentAt,
    placedAt: hasSucceeded ? sentAt : (before?.placedAt ?? began),
    lastAt: at,
    supersededAt: isShown ? at : hasSucceeded ? 0 : (before?.supersededAt ?? 0),
    contacts,
  };
}

export function fieldsOf(row: RowRecord): RecordedRow {
  const { state, isInDoubt, version, print, sentAt, placedAt, lastAt, supersededAt, contacts } = row;
  return [state, isInDoubt, version, print, sentAt, placedAt, lastAt, supersededAt, contacts];
}

/** A literal, and no spread: all records have one shape in memory. */
export function recordOf(fields: RecordedRow): RowRecord {
  const [state, isInDoubt, version, print, sentAt, placedAt, lastAt, supersededAt, contacts] = fields;
  return { state, isInDoubt, version, print, sentAt, placedAt, lastAt, supersededAt, contacts };
}
