import { ConfigurationError } from "../errors.ts";
import { shortHash } from "../hash.ts";
import { recordTarget, type Target } from "../organization.ts";
import { randomUuid } from "../runtime.ts";
import { startTimer } from "../timer.ts";
import { type Checkpoint, openCheckpoint, type OpenCheckpoint, openToRead } from "./checkpoint.ts";
import {
  damaged,
  decodeRow,
  decodeRun,
  encodeRow,
  encodeRun,
  type RowRecord,
  type RunLine,
} from "./record-lines.ts";

/** Whose record it is. */
interface RecordOwner {
  readonly isKeyed: boolean;
  readonly target: Target;
  /** Aborted when the run ends early: a checkpoint that hangs does not hold up its end. */
  readonly signal: AbortSignal;
}

interface RecordCallbacks {
  /** Called if the checkpoint fails: the run must not continue without a record. */
  readonly onFailure: (error: unknown) => void;
  /** Called if the checkpoint does not open at once: the lock of a run that was killed may still stand. */
  readonly onWait: () => void;
}

/** A file is locked at once, unless there is a lock. */
const longestOpeningMs = 2_000;

const runName = "run";
const rowPrefix = "row:";
const refusalPrefix = "refusal:";

/** What was read of a checkpoint. */
interface Recorded {
  /** Lines of rows and refusals, by their names, as they are stored: 100,000 of them take 20 MB. */
  readonly lines: Map<string, string>;
  readonly run: RunLine;
}

/** What a run has recorded, and earlier ones: a line for each row. */
export class RunRecord {
  readonly #lines: Recorded["lines"];
  readonly #run: RunLine;
  /** Undefined if it is only read. */
  readonly #opened: OpenCheckpoint | undefined;
  readonly #onFailure: (error: unknown) => void;
  /** The names of refusals that other calls wrote in this run. */
  readonly #refusals = new Set<string>();
  #isClosed = false;

  private constructor(
    { lines, run }: Recorded,
    opened?: OpenCheckpoint,
    onFailure: (error: unknown) => void = () => {},
  ) {
    this.#lines = lines;
    this.#run = run;
    this.#opened = opened;
    this.#onFailure = onFailure;
    for (const [name, line] of lines)
      if (name.startsWith(refusalPrefix) && line === String(run.number)) this.#refusals.add(name);
  }

  /** Opens a checkpoint for a run. Rejects, and closes it, if it cannot be read, or belongs to another organization. */
  static async open(
    checkpoint: Checkpoint,
    owner: RecordOwner,
    { onFailure, onWait }: RecordCallbacks,
  ): Promise<RunRecord> {
    const cancel = startTimer(onWait, longestOpeningMs);
    const opened = await openCheckpoint(checkpoint, owner.signal).finally(cancel);
    try {
      const record = new RunRecord(await readLines(opened, owner), opened, onFailure);
      // Before the first row, so that no other target goes on with it.
      await record.#put(runName, encodeRun(record.#run), true);
      return record;
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  /** Reads a checkpoint, leaves it as it is, and closes it: what is put in the record stays in memory. */
  static async read(checkpoint: Checkpoint, owner: RecordOwner): Promise<RunRecord> {
    const opened = await openToRead(checkpoint);
    try {
      return new RunRecord(await readLines(opened, owner));
    } finally {
      await opened.close();
    }
  }

  /** Of the checkpoint. */
  get id(): string {
    return this.#run.id;
  }

  row(name: string): RowRecord | undefined {
    const line = this.#lines.get(rowPrefix + name);
    return line === undefined ? undefined : decodeRow(line);
  }

  /** Resolves when it is recorded. */
  async putRow(name: string, row: RowRecord, flush = false): Promise<void> {
    const line = encodeRow(row);
    this.#lines.set(rowPrefix + name, line);
    await this.#put(rowPrefix + name, line, flush);
  }

  get hasRefusals(): boolean {
    return this.#refusals.size > 0;
  }

  /** Whether another call has written a refusal there in this run, also before it was killed. */
  async isRefused(address: string): Promise<boolean> {
    return this.#refusals.has(refusalPrefix + (await shortHash(address)));
  }

  async putRefusal(address: string, isRefused: boolean): Promise<void> {
    if (!isRefused && !this.hasRefusals) return;
    const name = refusalPrefix + (await shortHash(address));
    if (!isRefused && !this.#refusals.delete(name)) return;
    if (isRefused) this.#refusals.add(name);
    // That of no run.
    await this.#put(name, isRefused ? String(this.#run.number) : "0", true);
  }

  /** The next run is another one: with a `key` it compares its rows with these, and without one it begins afresh. */
  async complete(): Promise<void> {
    if (this.#run.isKeyed) await this.#put(runName, encodeRun({ ...this.#run, isOver: true }), true);
    else await this.#opened?.clear();
  }

  /** What hangs then was cut off by the end of the run. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#opened?.close();
  }

  async #put(name: string, line: string, flush: boolean): Promise<void> {
    // Another run may use the checkpoint now.
    if (this.#isClosed) throw new ConfigurationError("The run is over, and its checkpoint is closed.");
    try {
      // Not one after the other: one that hangs must not hold up every row.
      await this.#opened?.put(name, line, { flush });
    } catch (error) {
      this.#onFailure(error);
      throw error;
    }
  }
}

async function readLines({ entries }: OpenCheckpoint, owner: RecordOwner): Promise<Recorded> {
  const lines = new Map<string, string>();
  let before: RunLine | undefined;
  for await (const [name, line] of entries) {
    if (name === runName) {
      before = decodeRun(line);
      continue;
    }
    if (name.startsWith(rowPrefix)) decodeRow(line);
    else if (!name.startsWith(refusalPrefix)) throw damaged(`an entry named ${JSON.stringify(name)}`);
    lines.set(name, line);
  }
  // Lost, and with it whose rows these are.
  if (!before && lines.size > 0) throw damaged("no entry of its run");
  return { lines, run: await nextRun(before, lines, owner) };
}

/** The run that goes on, or the one after it. Throws if the record is of another kind of run, or of another target. */
async function nextRun(
  before: RunLine | undefined,
  lines: ReadonlyMap<string, string>,
  { isKeyed, target, signal }: RecordOwner,
): Promise<RunLine> {
  if (before && before.isKeyed !== isKeyed) {
    const kind = before.isKeyed ? "with" : "without";
    throw new ConfigurationError(
      `The checkpoint was written ${kind} a \`key\`. Run it ${kind} a \`key\` again, or name another checkpoint.`,
    );
  }
  const id = before?.id ?? randomUuid();
  // After a run with a wrong key, or to a wrong address, it belongs to nobody yet.
  const recorded = isBlank(lines) ? undefined : before?.target;
  return {
    id,
    number: (before?.number ?? 0) + (before && !before.isOver ? 0 : 1),
    isOver: false,
    isKeyed,
    target: await recordTarget(target, recorded, { salt: id, signal }),
  };
}

/** Whether no row may have reached the service. */
function isBlank(lines: ReadonlyMap<string, string>): boolean {
  for (const [name, line] of lines)
    if (name.startsWith(rowPrefix) && decodeRow(line).state !== "failed") return false;
  return true;
}
