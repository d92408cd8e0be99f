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
import type { RunEnd } from "./run-end.ts";

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

type RecordOwner = Pick<BulkSettings<never>, "key" | "target" | "opened">;

/** A file is locked at once, unless there is a lock: that of a run that was killed may still stand. */
const longestOpeningMs = 2_000;
const waits =
  "bulk waits for its checkpoint to open: up to 30 s for the lock of another run, which is not renewed";

const runName = "run";
const rowPrefix = "row:";
const refusalPrefix = "refusal:";
const isRefusal = (name: string): boolean => name.startsWith(refusalPrefix);

/** What a run has recorded, and earlier ones: a line for each row. */
export class RunRecord {
  readonly id: string;
  /** The hashed addresses of refusals that other calls wrote before this run was killed. */
  readonly earlierRefusals = new Set<string>();
  /** Of rows and refusals, by their names, as they are stored: 100,000 of them take 20 MB. */
  readonly #lines: Map<string, string>;
  readonly #run: RunLine;
  readonly #opened: OpenCheckpoint;
  readonly #alike = new Map<string, number>();
  /** The names of rows of this run that must not be repeated. */
  readonly #once = new Set<string>();
  /** By the keys of the contacts of skipped rows that kept a refusal. */
  readonly #keptIds = new Map<string, string>();

  private constructor(lines: Map<string, string>, run: RunLine, opened: OpenCheckpoint) {
    this.id = run.id;
    this.#lines = lines;
    this.#run = run;
    this.#opened = opened;
    for (const [name, line] of lines)
      if (isRefusal(name) && line === String(run.number))
        this.earlierRefusals.add(name.slice(refusalPrefix.length));
  }

  /** Opens a checkpoint for a run. Rejects, and closes it, if it cannot be read, or belongs to another organization. */
  static async open(checkpoint: Checkpoint, owner: RecordOwner, end: RunEnd): Promise<RunRecord> {
    const { observer } = owner.opened.settings;
    const cancel = startTimer(() => observer.info(waits), longestOpeningMs);
    const opened = await openCheckpoint(checkpoint, end).finally(cancel);
    try {
      const record = await RunRecord.#read(opened, owner, end.stop);
      // Before the first row, so that no other target goes on with it.
      await opened.put(runName, encode(record.#run), { flush: true });
      return record;
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  /** Reads a checkpoint, leaves it as it is, and closes it: what is put in the record stays in memory. */
  static async read(checkpoint: Checkpoint, owner: RecordOwner): Promise<RunRecord> {
    const end = { fail: () => {}, stop: new AbortController().signal };
    const nothing = async () => {};
    const entries = checkpoint[readAlone]?.();
    const opened = entries
      ? { entries, clear: nothing, close: nothing }
      : await openCheckpoint(checkpoint, end);
    try {
      return await RunRecord.#read({ ...opened, put: nothing }, owner, end.stop);
    } finally {
      await opened.close();
    }
  }

  static async #read(opened: OpenCheckpoint, owner: RecordOwner, stop: AbortSignal): Promise<RunRecord> {
    const lines = new Map<string, string>();
    let before: RunLine | undefined;
    let isOfNobody = true;
    for await (const [name, line] of opened.entries) {
      if (name !== runName) lines.set(name, line);
      // After a run with a wrong key, or to a wrong address, no row has reached the service.
      if (name === runName) before = decodeRun(line);
      else if (name.startsWith(rowPrefix)) isOfNobody = decodeRow(line).state === "failed" && isOfNobody;
      else if (!isRefusal(name)) throw damaged(`an entry named ${JSON.stringify(name)}`);
    }
    // Lost, and with it whose rows these are.
    if (!before && lines.size > 0) throw damaged("no entry of its run");
    const target = isOfNobody ? undefined : before?.target;
    return new RunRecord(lines, await nextRun(before, target, owner, stop), opened);
  }

  /** How many rows so far have this text, this one included. */
  countAlike(text: string): number {
    const count = (this.#alike.get(text) ?? 0) + 1;
    this.#alike.set(text, count);
    return count;
  }

  row(name: string): RowRecord | undefined {
    const line = this.#lines.get(rowPrefix + name);
    return line === undefined ? undefined : decodeRow(line);
  }

  wasPutOnce(name: string): boolean {
    return this.#once.has(name);
  }

  async putRow(name: string, row: RowRecord, flush = false): Promise<void> {
    const line = encodeRow(row);
    this.#lines.set(rowPrefix + name, line);
    if (row.state === "once") this.#once.add(name);
    // Not one after the other: one that hangs must not hold up every row.
    await this.#opened.put(rowPrefix + name, line, { flush });
  }

  /** A row is skipped of which an earlier night kept a refusal: another one of its contact is looked up by its id. */
  skip({ said }: ReadRow<unknown>, { id, kept }: RowRecord): void {
    if (!kept || id === undefined) return;
    for (const { contacts } of said) for (const key of contacts) this.#keptIds.set(key, id);
  }

  /** By the e-mail, or without one by the phone, as the service finds a contact. */
  keptId({ said }: ReadRow<unknown>): string | undefined {
    const keys = said.flatMap(({ contacts }) => contacts);
    return addressesOf("email", keys).flatMap((key) => this.#keptIds.get(key) ?? [])[0];
  }

  /** Whether another call's refusal stands, until the run is over. */
  async putRefusal(hash: string, stands: boolean): Promise<void> {
    // 0 is the number of no run.
    await this.#opened.put(refusalPrefix + hash, stands ? String(this.#run.number) : "0", { flush: true });
  }

  /** The next run is another one: with a `key` it compares its rows with these, and without one it begins afresh. */
  async complete(): Promise<void> {
    if (!this.#run.isKeyed) await this.#opened.clear();
    else await this.#opened.put(runName, encode({ ...this.#run, isOver: true }), { flush: true });
  }

  async close(): Promise<void> {
    await this.#opened.close();
  }
}

/** The run that goes on, or the one after it. Throws if the record is of another kind of run, or of another target. */
async function nextRun(
  before: RunLine | undefined,
  recorded: RunLine["target"] | undefined,
  { key, target }: RecordOwner,
  signal: AbortSignal,
): Promise<RunLine> {
  const isKeyed = key !== undefined;
  if (before && before.isKeyed !== isKeyed) {
    const kind = before.isKeyed ? "with" : "without";
    throw new ConfigurationError(
      `The checkpoint was written ${kind} a \`key\`. Run it ${kind} a \`key\` again, or name another checkpoint.`,
    );
  }
  const id = before?.id ?? randomUuid();
  return {
    id,
    number: (before?.number ?? 0) + (before && !before.isOver ? 0 : 1),
    isOver: false,
    isKeyed,
    target: await recordTarget(target, recorded, { salt: id, signal }),
  };
}

const longestLine = 2_000;

function encodeRow({ state, version, fingerprint, id, kept }: RowRecord): string {
  // Of 100,000 rows each byte counts: a row that kept nothing says nothing of it.
  const line = encode([state, version, fingerprint, ...(kept ? [id, kept] : id === undefined ? [] : [id])]);
  // Of any length is only what the service and the caller name: an id, and channels of v2.
  return line.length <= longestLine ? line : encode([state, version, fingerprint]);
}

type EncodedRow = [RowRecord["state"], version: number, fingerprint: string, id?: string | null, kept?: Kept];

const rowLine = /^\["(succeeded|sent|once|failed)",\d+,"[\w-]+"/;

function decodeRow(line: string): RowRecord {
  try {
    if (!rowLine.test(line)) throw new TypeError("not a row");
    // Safe: as it was encoded.
    const [state, version, fingerprint, id, kept] = JSON.parse(line) as EncodedRow;
    return { state, version, fingerprint, id: id ?? undefined, kept };
  } catch {
    throw damaged("an entry of a row that cannot be read");
  }
}

function decodeRun(line: string): RunLine {
  try {
    return runSchema.parse(JSON.parse(line));
  } catch {
    throw damaged("an entry of its run that cannot be read");
  }
}

/** JSON in ASCII: a base URL, a channel and a name of an organization may hold any letter. */
function encode(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function damaged(found: string): ConfigurationError {
  return new ConfigurationError(
    `The checkpoint has ${found}: it is damaged, or was written by another version. It is left unchanged. Restore it, or ` +
      "end its run with the version that wrote it. Another checkpoint sends every row.",
  );
}
