import * as z from "zod";
import { ConfigurationError } from "../errors.ts";
import { recordTarget, targetSchema } from "../organization.ts";
import { randomUuid } from "../runtime.ts";
import { startTimer } from "../timer.ts";
import type { BulkSettings } from "./bulk-options.ts";
import { type Checkpoint, openCheckpoint, type OpenCheckpoint, readAlone } from "./checkpoint.ts";
import { addressesOf } from "./guards/guard.ts";
import type { Kept } from "./refusals.ts";
import type { ReadRow } from "./rows.ts";
import type { RunEnd } from "./run-parts.ts";

/**
 * What the next run must know of a row. `succeeded`: it was carried out. `sent`: it may have been. `once`: it may have been,
 * and must not be repeated. `failed`: nothing of it was.
 */
export interface RowRecord {
  readonly state: "succeeded" | "sent" | "once" | "failed";
  readonly version: number;
  readonly fingerprint: string;
  /** The id of its contact, as the last response gave it. */
  readonly id: string | undefined;
  readonly kept: Kept | undefined;
}

const runSchema = z.object({
  id: z.string(),
  number: z.int(),
  isOver: z.boolean(),
  isKeyed: z.boolean(),
  target: targetSchema,
});

/** The run that wrote the record last, and whose record it is. */
type RunLine = z.infer<typeof runSchema>;

/** A file is locked at once, unless there is a lock: that of a run that was killed may still stand. */
const longestOpeningMs = 2_000;
const waits =
  "bulk waits for its checkpoint to open: up to 30 s for the lock of another run, which is not renewed";

const runEntryName = "run";
const rowPrefix = "row:";
const refusalPrefix = "refusal:";
const isRefusalEntry = (name: string): boolean => name.startsWith(refusalPrefix);

/** What a run and earlier runs have recorded in a checkpoint: a line for each row. */
export class RunRecord {
  readonly run: RunLine;
  /** The names of rows of this run that must not be repeated. */
  readonly onceRows = new Set<string>();
  /** The hashed addresses of refusals that other calls wrote before this run was killed. */
  readonly earlierRefusals = new Set<string>();
  /** The lines of rows and refusals, by their names, as the checkpoint has them: 100,000 take 20 MB. */
  readonly #recordLines: Map<string, string>;
  readonly #checkpoint: OpenCheckpoint;
  readonly #alikeRows = new Map<string, number>();
  /** The ids of contacts, by the keys of skipped rows that kept a refusal. */
  readonly #keptIds = new Map<string, string>();

  private constructor(recordLines: Map<string, string>, runLine: RunLine, checkpoint: OpenCheckpoint) {
    this.run = runLine;
    this.#recordLines = recordLines;
    this.#checkpoint = checkpoint;
    for (const [name, line] of recordLines)
      if (isRefusalEntry(name) && line === String(runLine.number))
        this.earlierRefusals.add(name.slice(refusalPrefix.length));
  }

  /** Opens a checkpoint for a run. Rejects, and closes it, if it cannot be read, or belongs to another organization. */
  static async open(checkpoint: Checkpoint, owner: BulkSettings<never>, runEnd: RunEnd): Promise<RunRecord> {
    const { observer } = owner.opened.settings;
    const cancelWarning = startTimer(() => observer.info(waits), longestOpeningMs);
    const opened = await openCheckpoint(checkpoint, runEnd).finally(cancelWarning);
    try {
      const record = await RunRecord.#read(opened, owner, runEnd.stop);
      // Before the first row, so that no run for another target goes on with the record.
      await opened.put(runEntryName, toJson(record.run), { flush: true });
      return record;
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  /** Reads a checkpoint, leaves it as it is, and closes it: what is put in the record stays in memory. */
  static async read(checkpoint: Checkpoint, owner: BulkSettings<never>): Promise<RunRecord> {
    const runEnd = { failRun: () => {}, stop: new AbortController().signal };
    const ignore = async () => {};
    const untouched = { put: ignore, clear: ignore, close: ignore };
    const entries = checkpoint[readAlone]?.();
    const opened = entries ? { ...untouched, entries } : await openCheckpoint(checkpoint, runEnd);
    try {
      return await RunRecord.#read({ ...opened, ...untouched }, owner, runEnd.stop);
    } finally {
      await opened.close();
    }
  }

  static async #read(checkpoint: OpenCheckpoint, owner: BulkSettings<never>, stop: AbortSignal) {
    const recordLines = new Map<string, string>();
    let lastRun: RunLine | undefined;
    let isOfNobody = true;
    for await (const [name, line] of checkpoint.entries) {
      if (name !== runEntryName) recordLines.set(name, line);
      try {
        if (name === runEntryName) lastRun = runSchema.parse(JSON.parse(line));
        // After a run with a wrong key, or to a wrong address, no row has reached the service.
        else if (name.startsWith(rowPrefix))
          isOfNobody = decodeRowLine(line).state === "failed" && isOfNobody;
        else if (!isRefusalEntry(name)) throw new TypeError("neither a row nor a refusal");
      } catch {
        throw damagedRecord(`an entry named ${JSON.stringify(name)} that cannot be read`);
      }
    }
    // The line of the run is lost, and with it the organization of these rows.
    if (!lastRun && recordLines.size > 0) throw damagedRecord("no entry of its run");
    const target = isOfNobody ? undefined : lastRun?.target;
    return new RunRecord(recordLines, await nextRun(lastRun, target, owner, stop), checkpoint);
  }

  /** How many rows so far have this text, this one included. */
  countAlike(text: string): number {
    const count = (this.#alikeRows.get(text) ?? 0) + 1;
    this.#alikeRows.set(text, count);
    return count;
  }

  row(name: string): RowRecord | undefined {
    const line = this.#recordLines.get(rowPrefix + name);
    return line === undefined ? undefined : decodeRowLine(line);
  }

  async putRow(name: string, row: RowRecord, flush = false): Promise<void> {
    const line = encodeRowLine(row);
    this.#recordLines.set(rowPrefix + name, line);
    if (row.state === "once") this.onceRows.add(name);
    // Not one after the other: a `put` that hangs must not hold up every row.
    await this.#checkpoint.put(rowPrefix + name, line, { flush });
  }

  /** A row is skipped of which an earlier night kept a refusal: another one of its contact is looked up by its id. */
  skip({ consents }: ReadRow<unknown>, { id, kept }: RowRecord): void {
    if (!kept || id === undefined) return;
    for (const { contacts } of consents) for (const key of contacts) this.#keptIds.set(key, id);
  }

  /** The id from a skipped row, by the e-mail, or without one by the phone, as the service finds a contact. */
  keptId({ consents }: ReadRow<unknown>): string | undefined {
    const keys = consents.flatMap(({ contacts }) => contacts);
    return addressesOf("email", keys).flatMap((key) => this.#keptIds.get(key) ?? [])[0];
  }

  /** Records whether another call's refusal stands, until the run is over. */
  async putRefusal(hash: string, stands: boolean): Promise<void> {
    // 0: no run has this number.
    const line = stands ? String(this.run.number) : "0";
    await this.#checkpoint.put(refusalPrefix + hash, line, { flush: true });
  }

  /** The next run is another one: with a `key` it compares its rows with these, and without one it begins afresh. */
  async complete(): Promise<void> {
    if (!this.run.isKeyed) await this.#checkpoint.clear();
    else await this.#checkpoint.put(runEntryName, toJson({ ...this.run, isOver: true }), { flush: true });
  }

  async close(): Promise<void> {
    await this.#checkpoint.close();
  }
}

/** The run that goes on, or the one after it. Throws if the record is of another kind of run, or of another target. */
async function nextRun(
  lastRun: RunLine | undefined,
  recordedTarget: RunLine["target"] | undefined,
  { key, target }: BulkSettings<never>,
  signal: AbortSignal,
): Promise<RunLine> {
  const isKeyed = key !== undefined;
  if (lastRun && lastRun.isKeyed !== isKeyed) {
    const kind = lastRun.isKeyed ? "with" : "without";
    throw new ConfigurationError(
      `The checkpoint was written ${kind} a \`key\`. Run it ${kind} a \`key\` again, or name another checkpoint.`,
    );
  }
  const id = lastRun?.id ?? randomUuid();
  return {
    id,
    number: (lastRun?.number ?? 0) + (lastRun && !lastRun.isOver ? 0 : 1),
    isOver: false,
    isKeyed,
    target: await recordTarget(target, recordedTarget, { salt: id, signal }),
  };
}

const longestRowLine = 2_000;

function encodeRowLine({ state, version, fingerprint, id, kept }: RowRecord): string {
  // Of 100,000 rows each byte counts: a row that kept nothing says nothing of it.
  const line = toJson([state, version, fingerprint, ...(kept ? [id, kept] : id === undefined ? [] : [id])]);
  // Of any length is only what the service and the caller name: an id, and channels of v2.
  return line.length <= longestRowLine ? line : toJson([state, version, fingerprint]);
}

type RowEntry = [RowRecord["state"], version: number, fingerprint: string, id?: string | null, kept?: Kept];

const rowLinePattern = /^\["(succeeded|sent|once|failed)",\d+,"[\w-]+"/;

function decodeRowLine(line: string): RowRecord {
  if (!rowLinePattern.test(line)) throw new TypeError("not a row");
  // Safe: as it was encoded.
  const [state, version, fingerprint, id, kept] = JSON.parse(line) as RowEntry;
  return { state, version, fingerprint, id: id ?? undefined, kept };
}

/** JSON in ASCII: a base URL, a channel and a name of an organization may hold any letter. */
function toJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function damagedRecord(problem: string): ConfigurationError {
  return new ConfigurationError(
    `The checkpoint has ${problem}: it is damaged, or was written by another version. It is left unchanged. Restore it, or ` +
      "end its run with the version that wrote it. Another checkpoint sends every row.",
  );
}
