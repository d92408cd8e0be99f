import { ConfigurationError } from "../errors.ts";
import { unlessLate, untilLongAborted } from "../transport/abort.ts";
import { hasMethods, isObject } from "../values/predicates.ts";

/**
 * Records what a run learns, so that it can continue after a crash, and the next run sends the rows that have changed.
 * `fileCheckpoint` of `audience-sdk/checkpoint` uses a file; write your own to use a database: a table of names and lines.
 *
 * ```ts
 * const checkpoint: Checkpoint = { open: async () => new MyTable(await connect()) };
 * ```
 */
export interface Checkpoint {
  /** Called once, when the run starts. Must reject while another run has it open. */
  open(): Promise<OpenCheckpoint>;
}

/** Opens a checkpoint of this package to be read, without its lock. Registered, as both module formats share it. */
export const readOnly = Symbol.for("audience-sdk.checkpoint-to-read");

/**
 * An open checkpoint: lines of text under names, which outlive the process. Names and lines are ASCII, at most 200 and 2,000
 * characters. They hold hashes of rows and contacts.
 */
export interface OpenCheckpoint {
  /** Each name with its line. Read once, before the first `put`. */
  readonly entries: AsyncIterable<readonly [name: string, line: string]>;
  /**
   * Stores a line in place of the one that has this name. Several may be under way, and of one name the last that was called
   * counts. Resolves once a crash of this process cannot lose it; with `flush`, once a loss of power cannot. A rejection ends
   * the run, because it must not continue without a record.
   */
  put(name: string, line: string, options: { readonly flush: boolean }): Promise<void>;
  /** Removes all names, when a run without a `key` has ended. */
  clear(): Promise<void>;
  /** Called once, when the run has ended: another run may then open it. */
  close(): Promise<void>;
}

/** The longest time for a line: then the run ends, as it does if the line cannot be stored (D153). */
const longestPutMs = 30_000;
/** What has not settled so long after the end of the run is left alone. */
const graceMs = 1_000;

type Method = "open" | "put" | "clear" | "close";

/**
 * Opens a checkpoint. What it throws is a rejection here. `end`: aborted when the run has ended early; a second later no
 * call of the checkpoint is waited for any more, and it rejects with the signal's reason.
 */
export async function openCheckpoint(checkpoint: Checkpoint, end?: AbortSignal): Promise<OpenCheckpoint> {
  const opened: unknown = await promised("open", () => checkpoint.open());
  if (!hasMethods(opened, "put", "clear", "close") || !("entries" in opened && isObject(opened.entries)))
    throw new ConfigurationError("`open` of the checkpoint must return { entries, put, clear, close }.");
  // Safe: checked as far as its methods go; the compiler asks the caller for the rest.
  return new CheckpointCalls(opened as OpenCheckpoint, end);
}

/** Opens a checkpoint to read it alone: that of a file without its lock. */
export async function openToRead(checkpoint: Checkpoint): Promise<OpenCheckpoint> {
  const { [readOnly]: open } = checkpoint as { [readOnly]?: Checkpoint["open"] };
  return await openCheckpoint(open ? { open: () => open.call(checkpoint) } : checkpoint);
}

/** Calls the methods of an open checkpoint, which may be anyone's: a call that hangs must not hold up all others. */
class CheckpointCalls implements OpenCheckpoint {
  readonly #opened: OpenCheckpoint;
  readonly #end: AbortSignal | undefined;

  constructor(opened: OpenCheckpoint, end: AbortSignal | undefined) {
    this.#opened = opened;
    this.#end = end;
  }

  get entries(): OpenCheckpoint["entries"] {
    return this.#opened.entries;
  }

  async put(name: string, line: string, options: { readonly flush: boolean }): Promise<void> {
    const stored = promised("put", () => this.#opened.put(name, line, options));
    await unlessLate(this.#unlessEnded(stored), longestPutMs, late);
  }

  async clear(): Promise<void> {
    await this.#unlessEnded(promised("clear", () => this.#opened.clear()));
  }

  async close(): Promise<void> {
    await this.#unlessEnded(promised("close", () => this.#opened.close()));
  }

  async #unlessEnded(work: Promise<void>): Promise<void> {
    await (this.#end ? untilLongAborted(work, this.#end, graceMs) : work);
  }
}

/** Rejects where the method throws, or returns no promise: nobody could tell when it has ended. */
async function promised<Result>(method: Method, call: () => PromiseLike<Result>): Promise<Result> {
  const result = call();
  if (!hasMethods(result, "then"))
    throw new ConfigurationError(`\`${method}\` of the checkpoint must return a promise.`);
  return await result;
}

function late(): never {
  throw new Error(
    `The checkpoint has not stored a line within ${longestPutMs / 1_000} s; the run stops, so that no row goes ` +
      "unrecorded. Mend the cause, such as a lost connection, and run it again: it continues from what is recorded.",
  );
}
