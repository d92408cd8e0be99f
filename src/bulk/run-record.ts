import { ConfigurationError } from "../errors.ts";
import { recordTarget } from "../organization.ts";
import { randomUuid } from "../runtime.ts";
import { startTimer } from "../timer.ts";
import type { BulkSettings } from "./bulk-options.ts";
import {
  damaged,
  decodeRow,
  decodeRun,
  encode,
  encodeRow,
  type RowRecord,
  type RunLine,
} from "./checkpoint-lines.ts";
import { type Checkpoint, type CheckpointUser, openCheckpoint, type OpenCheckpoint } from "./checkpoint.ts";

/** Whose record it is. */
type RecordOwner = Pick<BulkSettings<never>, "key" | "target" | "opened">;

/** A file is locked at once, unless there is a lock: that of a run that was killed may still stand. */
const longestOpeningMs = 2_000;
const waits =
  "bulk waits for its checkpoint to open: up to 30 s for the lock of another run, which is not renewed";

const runName = "run";
const rowPrefix = "row:";
const refusalPrefix = "refusal:";

/** Lines of rows and refusals, by their names, as they are stored: 100,000 of them take 20 MB. */
type Lines = Map<string, string>;

/** What a run has recorded, and earlier ones: a line for each row. */
export class RunRecord {
  /** The hashed addresses of refusals that other calls wrote before this run was killed. */
  readonly earlierRefusals: ReadonlySet<string>;
  readonly #lines: Lines;
  readonly #run: RunLine;
  readonly #opened: OpenCheckpoint;
  readonly #alike = new Map<string, number>();

  private constructor(lines: Lines, run: RunLine, opened: OpenCheckpoint) {
    this.#lines = lines;
    this.#run = run;
    this.#opened = opened;
    const refusals = [...lines].filter(
      ([name, line]) => name.startsWith(refusalPrefix) && line === String(run.number),
    );
    this.earlierRefusals = new Set(refusals.map(([name]) => name.slice(refusalPrefix.length)));
  }

  /** Opens a checkpoint for a run. Rejects, and closes it, if it cannot be read, or belongs to another organization. */
  static async open(checkpoint: Checkpoint, owner: RecordOwner, user: CheckpointUser): Promise<RunRecord> {
    const { observer } = owner.opened.settings;
    const cancel = startTimer(() => observer.info(waits), longestOpeningMs);
    const opened = await openCheckpoint(checkpoint, user).finally(cancel);
    try {
      const record = await RunRecord.#read(opened, owner, user);
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
    const user = { stop: new AbortController().signal, fail: () => {} };
    const opened = await openCheckpoint(checkpoint, user, "to read");
    try {
      return await RunRecord.#read({ ...opened, put: async () => {} }, owner, user);
    } finally {
      await opened.close();
    }
  }

  static async #read(
    opened: OpenCheckpoint,
    owner: RecordOwner,
    { stop }: CheckpointUser,
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
    return new RunRecord(lines, await nextRun(before, lines, { ...owner, stop }), opened);
  }

  /** Of the checkpoint. */
  get id(): string {
    return this.#run.id;
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

  /** Resolves when it is recorded. */
  async putRow(name: string, row: RowRecord, flush = false): Promise<void> {
    const line = encodeRow(row);
    this.#lines.set(rowPrefix + name, line);
    // Not one after the other: one that hangs must not hold up every row.
    await this.#opened.put(rowPrefix + name, line, { flush });
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
  lines: Lines,
  { key, target, stop }: RecordOwner & { readonly stop: AbortSignal },
): Promise<RunLine> {
  const isKeyed = key !== undefined;
  if (before && before.isKeyed !== isKeyed) {
    const kind = before.isKeyed ? "with" : "without";
    throw new ConfigurationError(
      `The checkpoint was written ${kind} a \`key\`. Run it ${kind} a \`key\` again, or name another checkpoint.`,
    );
  }
  const id = before?.id ?? randomUuid();
  // After a run with a wrong key, or to a wrong address, it belongs to nobody yet.
  const mayHaveReached = [...lines].some(
    ([name, line]) => name.startsWith(rowPrefix) && decodeRow(line).state !== "failed",
  );
  const recorded = mayHaveReached ? before?.target : undefined;
  return {
    id,
    number: (before?.number ?? 0) + (before && !before.isOver ? 0 : 1),
    isOver: false,
    isKeyed,
    target: await recordTarget(target, recorded, { salt: id, signal: stop }),
  };
}
