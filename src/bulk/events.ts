// The events of a journal, and their lines.
import type { Consent } from "../consent.ts";
import { ConfigurationError } from "../errors.ts";
import { targetSchema, type RecordedTarget } from "./target.ts";

/** Why a row is superseded: by a call of this process, or by what the service or a snapshot of it shows. */
export type SupersededBy = "process" | "service" | "snapshot";

/** `succeeded` and `superseded-…` are ends. `failed`: nothing was carried out. `sent`: it may have been, and may be sent
 * again. `in-doubt`: it may have been, and must not be sent again. */
export type RowState = "succeeded" | `superseded-${SupersededBy}` | "failed" | "sent" | "in-doubt";

/** How a row ended. `unsent`: as if it had not been read. */
export type RecordedEnd = RowState | "unsent";

/** What a write of another call came to; `unknown`: it may have been applied. */
export type WriteEnd = "applied" | "unknown" | "not-applied";

/**
 * What a run learns, in order. Rows and contacts are hashes; the contacts that a row speaks of are one string
 * (`statements.ts`).
 */
export type JournalEvent =
  /** A run begins, or goes on if the last one is not over. */
  | readonly ["run", id: string, isKeyed: boolean, target: RecordedTarget]
  /** Every row of the run has ended. */
  | readonly ["over"]
  /** A write of a row leaves; `isOnce`: it must not be repeated. */
  | readonly ["sends", row: string, print: string, contacts: string, isOnce: boolean]
  /** A row has ended. `print` is missing where it was sent with it, `contacts` where it was sent with them. */
  | readonly ["ends", row: string, how: RecordedEnd, contacts?: string, print?: string]
  /** A call that is none of the run's rows writes a consent; without an end it may have been applied. */
  | readonly ["writes", write: number, contacts: readonly string[], consent: Consent]
  | readonly ["wrote", write: number, contacts: readonly string[], consent: Consent, end: WriteEnd]
  // A journal that was rewritten holds what its events came to:
  | readonly ["at", position: number, began: number, isOver: boolean]
  | readonly ["row", row: string, ...record: RecordedRow]
  | readonly ["note", contact: string, channel: string, status: string, at: number];

/** The fields of a `RowRecord`, in order. */
export type RecordedRow = readonly [
  state: RowState,
  isInDoubt: boolean,
  version: number,
  print: string,
  sentAt: number,
  placedAt: number,
  lastAt: number,
  supersededAt: number,
  contacts: string,
];

/** The types of an event's parts, by its name; those of an end may be missing. No schema: a journal has 200,000 lines. */
const parts: Readonly<Record<JournalEvent[0], readonly string[]>> = {
  run: ["string", "boolean", "object"],
  over: [],
  sends: ["string", "string", "string", "boolean"],
  ends: ["string", "string", "string", "string"],
  writes: ["number", "object", "object"],
  wrote: ["number", "object", "object", "string"],
  at: ["number", "number", "boolean"],
  row: ["string", "string", "boolean", "number", "string", "number", "number", "number", "number", "string"],
  note: ["string", "string", "string", "number"],
};

function isEvent(event: JournalEvent): boolean {
  if (!Object.hasOwn(parts, event[0])) return false;
  const types = parts[event[0]];
  const count = event.length - 1;
  if (count !== types.length && !(event[0] === "ends" && count >= 2 && count < types.length)) return false;
  for (let part = 1; part <= count; part += 1)
    if (typeof event[part] !== types[part - 1] || event[part] === null) return false;
  return true;
}

export function encodeEvent(event: JournalEvent): string {
  return JSON.stringify(event);
}

/** Throws a `ConfigurationError` that names the line, from 1: a journal that cannot be read is never misread. */
export function decodeEvent(line: string, number: number): JournalEvent {
  try {
    // Safe: checked below.
    const event = JSON.parse(line) as JournalEvent;
    if (!isEvent(event)) throw new TypeError("not an event");
    if (event[0] === "run") targetSchema.parse(event[3]);
    return event;
  } catch {
    throw damaged(number);
  }
}

export function damaged(line: number): ConfigurationError {
  return new ConfigurationError(
    `The checkpoint is damaged at line ${line}, or was written by another version. It is left unchanged. Restore ` +
      "it, or end its run with the version that wrote it. Another checkpoint sends every row, and knows none of the " +
      "consents that this one keeps from being overridden.",
  );
}
