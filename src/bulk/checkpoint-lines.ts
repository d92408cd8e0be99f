// The entries of a checkpoint: the line of a row, and that of the run.
import * as z from "zod";
import { ConfigurationError } from "../errors.ts";
import { targetSchema } from "../organization.ts";
import type { Kept } from "./refusals.ts";

/**
 * What the next run must know of a row. `succeeded`: it was carried out. `sent`: it may have been. `once`: it may have been,
 * and must not be repeated. `failed`: nothing of it was.
 */
export interface RowRecord {
  readonly state: "succeeded" | "sent" | "once" | "failed";
  /** The number of the row's version, from 1. */
  readonly version: number;
  /** Of its writes. */
  readonly fingerprint: string;
  /** The id of its contact, as the last response gave it. */
  readonly id: string | undefined;
  readonly kept: Kept | undefined;
}

const runSchema = z.object({
  /** Of the checkpoint. */
  id: z.string(),
  number: z.int(),
  isOver: z.boolean(),
  isKeyed: z.boolean(),
  target: targetSchema,
});

/** The run that wrote the record last, and whose record it is. */
export type RunLine = z.infer<typeof runSchema>;

const longestLine = 2_000;

export function encodeRow({ state, version, fingerprint, id, kept }: RowRecord): string {
  // Of 100,000 rows each byte counts: a row that kept nothing says nothing of it.
  const line = encode([state, version, fingerprint, ...(kept ? [id, kept] : id === undefined ? [] : [id])]);
  // Of any length is only what the service and the caller name: an id, and channels of v2.
  return line.length <= longestLine ? line : encode([state, version, fingerprint]);
}

const rowLine = /^\["(succeeded|sent|once|failed)",\d+,"[\w-]+"/;

/** Throws if it is damaged. */
export function decodeRow(line: string): RowRecord {
  try {
    if (!rowLine.test(line)) throw new TypeError("not a row");
    // Safe: as it was encoded.
    const [state, version, fingerprint, id, kept] = JSON.parse(line) as EncodedRow;
    return { state, version, fingerprint, id: id ?? undefined, kept: kept ?? undefined };
  } catch {
    throw damaged("an entry of a row that cannot be read");
  }
}

type EncodedRow = [
  state: RowRecord["state"],
  version: number,
  fingerprint: string,
  id?: string | null,
  kept?: Kept | null,
];

export function decodeRun(line: string): RunLine {
  try {
    return runSchema.parse(JSON.parse(line));
  } catch {
    throw damaged("an entry of its run that cannot be read");
  }
}

/** JSON in ASCII: a base URL, a channel and a name of an organization may hold any letter. */
export function encode(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

export function damaged(found: string): ConfigurationError {
  return new ConfigurationError(
    `The checkpoint has ${found}: it is damaged, or was written by another version. It is left unchanged. Restore it, or ` +
      "end its run with the version that wrote it. Another checkpoint sends every row.",
  );
}
