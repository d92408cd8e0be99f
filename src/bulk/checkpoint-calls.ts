import { ConfigurationError } from "../errors.ts";
import { unlessLate, untilLongAborted } from "../transport/abort.ts";
import { hasMethods, isObject } from "../values/predicates.ts";
import { type Checkpoint, type OpenCheckpoint, readOnly } from "./checkpoint.ts";

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
