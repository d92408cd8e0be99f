import { ConfigurationError } from "../errors.ts";
import { shortHash } from "../hash.ts";
import { recordTarget, type Target } from "../organization.ts";
import { randomUuid } from "../runtime.ts";
import { startTimer } from "../timer.ts";
import {
  damaged,
  decodeRow,
  decodeRun,
  encodeRow,
  encodeRun,
  type RowRecord,
  type RunLine,
} from "./checkpoint-lines.ts";
import { type Checkpoint, openCheckpoint, type OpenCheckpoint, openToRead } from "./checkpoint.ts";

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

/** Lines of rows and refusals, by their names, as they are stored: 100,000 of them take 20 MB. */
type Lines = Map<string, string>;

/** What a run has recorded, and earlier ones: a line for each row. */
export class RunRecord {
  readonly #lines: Lines;
  readonly #run: RunLine;
  readonly #opened: OpenCheckpoint;
  readonly #onFailure: (error: unknown) => void;
  /** The names of refusals that other calls wrote before this run was killed. */
  readonly #earlierRefusals: ReadonlySet<string>;
  /** The names of those that stand; each resolves when it is recorded. */
  readonly #refusals = new Map<string, Promise<void>>();
  #isClosed = false;

  private constructor(
    lines: Lines,
    run: RunLine,
    opened: OpenCheckpoint,
    onFailure: (error: unknown) => void,
  ) {
    this.#lines = lines;
    this.#run = run;
    this.#opened = opened;
    this.#onFailure = onFailure;
    this.#earlierRefusals = new Set(
      [...lines.keys()].filter(
        (name) => name.startsWith(refusalPrefix) && lines.get(name) === String(run.number),
      ),
    );
    for (const name of this.#earlierRefusals) this.#refusals.set(name, Promise.resolve());
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
      const record = await RunRecord.#read(opened, owner, onFailure);
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
    const { entries, close } = await openToRead(checkpoint, owner.signal);
    const nothing = async () => {};
    try {
      return await RunRecord.#read({ entries, put: nothing, clear: nothing, close: nothing }, owner);
    } finally {
      await close();
    }
  }

  static async #read(
    opened: OpenCheckpoint,
    owner: RecordOwner,
    onFailure: (error: unknown) => void = () => {},
  ): Promise<RunRecord> {
    const lines: Lines = new Map();
    let before: RunLine | undefined;
    for await (const [name, line] of opened.entries) {
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
    return new RunRecord(lines, await nextRun(before, lines, owner), opened, onFailure);
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

  /** Whether other calls had refused anything before this run was killed. */
  get hasEarlierRefusals(): boolean {
    return this.#earlierRefusals.size > 0;
  }

  /** Whether another call had refused there before this run was killed. */
  async wasRefused(address: string): Promise<boolean> {
    if (!this.hasEarlierRefusals) return false;
    return this.#earlierRefusals.has(refusalPrefix + (await shortHash(address)));
  }

  /** `isRefused` is asked as late as possible: several calls may be about one address. */
  async putRefusal(address: string, isRefused: () => boolean): Promise<void> {
    if (this.#refusals.size === 0 && !isRefused()) return;
    const name = refusalPrefix + (await shortHash(address));
    const stands = isRefused();
    const known = this.#refusals.get(name);
    if (stands === (known !== undefined)) return await known;
    // That of no run.
    const put = this.#put(name, stands ? String(this.#run.number) : "0", true);
    if (stands) this.#refusals.set(name, put);
    else this.#refusals.delete(name);
    await put;
  }

  /** The next run is another one: with a `key` it compares its rows with these, and without one it begins afresh. */
  async complete(): Promise<void> {
    if (this.#run.isKeyed) await this.#put(runName, encodeRun({ ...this.#run, isOver: true }), true);
    else await this.#opened.clear();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#opened.close();
  }

  async #put(name: string, line: string, flush: boolean): Promise<void> {
    // Another run may use the checkpoint now.
    if (this.#isClosed) throw new ConfigurationError("The run is over, and its checkpoint is closed.");
    try {
      // Not one after the other: one that hangs must not hold up every row.
      await this.#opened.put(name, line, { flush });
    } catch (error) {
      this.#onFailure(error);
      throw error;
    }
  }
}

/** The run that goes on, or the one after it. Throws if the record is of another kind of run, or of another target. */
async function nextRun(
  before: RunLine | undefined,
  lines: Lines,
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
function isBlank(lines: Lines): boolean {
  for (const [name, line] of lines)
    if (name.startsWith(rowPrefix) && decodeRow(line).state !== "failed") return false;
  return true;
}
