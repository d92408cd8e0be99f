import { ConfigurationError } from "../errors.ts";
import { hasMethods } from "../schema/kind-of.ts";
import type { Checkpoint, OpenCheckpoint } from "./checkpoint.ts";

const runKey = "run";

/**
 * A run with a checkpoint. It records rows under `row:`, the consents of other calls under `consent:`, and the run
 * itself under `run`.
 *
 * With a `key` the records stay, and the next run compares rows with them. Without a `key` they are deleted when the run
 * has completed.
 */
export class RecordedRun {
  /** Part of the generated ids of events. */
  readonly id: string;
  /** The number of the run, from 1. A run that continues after a crash keeps its number. */
  readonly number: number;
  readonly #checkpoint: OpenCheckpoint;
  readonly #isKeyed: boolean;
  readonly #onFailure: (error: unknown) => void;
  #isClosed = false;

  private constructor(
    checkpoint: OpenCheckpoint,
    { id, number, isKeyed }: { id: string; number: number; isKeyed: boolean },
    onFailure: (error: unknown) => void,
  ) {
    this.#checkpoint = checkpoint;
    this.id = id;
    this.number = number;
    this.#isKeyed = isKeyed;
    this.#onFailure = onFailure;
  }

  /** `onFailure` is called if the checkpoint fails: the run must not continue without a record. */
  static async open(
    checkpoint: Checkpoint,
    { isKeyed, onFailure }: { isKeyed: boolean; onFailure: (error: unknown) => void },
  ): Promise<RecordedRun> {
    const opened = await openCheckpoint(checkpoint);
    try {
      const before = await opened.get(runKey);
      const run = before !== undefined ? decodeRun(before) : { id: crypto.randomUUID(), number: 1, isKeyed };
      if (run.isKeyed !== isKeyed) throw otherKind(run.isKeyed);
      if (before === undefined) await opened.set(runKey, JSON.stringify(run));
      return new RecordedRun(opened, run, onFailure);
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  get(key: `row:${string}` | `consent:${string}`): Promise<string | undefined> {
    return this.#guard(() => this.#checkpoint.get(key));
  }

  set(
    key: `row:${string}` | `consent:${string}`,
    value: string | undefined,
    options?: { flush: boolean },
  ): Promise<void> {
    return this.#guard(() => this.#checkpoint.set(key, value, options));
  }

  /** Marks the run as complete: the next run is another one. */
  async finish(): Promise<void> {
    if (!this.#isKeyed) await this.#checkpoint.clear();
    else
      await this.#checkpoint.set(
        runKey,
        JSON.stringify({ id: this.id, number: this.number + 1, isKeyed: true }),
      );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#checkpoint.close();
  }

  async #guard<T>(work: () => T | Promise<T>): Promise<T> {
    // The call of a row after the end of its run: another run may use the checkpoint now.
    if (this.#isClosed) throw new ConfigurationError("The run is over, and its checkpoint is closed.");
    try {
      return await work();
    } catch (error) {
      this.#onFailure(error);
      throw error;
    }
  }
}

/** Opens a checkpoint and checks its methods before any row is sent. */
async function openCheckpoint(checkpoint: Checkpoint): Promise<OpenCheckpoint> {
  const opened: unknown = await checkpoint.open();
  // Safe: it has the methods.
  if (hasMethods(opened, "get", "set", "clear", "close")) return opened as OpenCheckpoint;
  throw new ConfigurationError("`open` of the checkpoint must return { get, set, clear, close }.");
}

function decodeRun(value: string): { id: string; number: number; isKeyed: boolean } {
  const { id, number, isKeyed } = parse(value) as Record<string, unknown>; // Safe: its values are checked below.
  if (typeof id === "string" && typeof number === "number" && typeof isKeyed === "boolean")
    return { id, number, isKeyed };
  throw new ConfigurationError(
    "The checkpoint holds no run of bulk under `run`. Restore it, or begin with an empty one.",
  );
}

function parse(value: string): unknown {
  try {
    return { ...JSON.parse(value) };
  } catch {
    return {};
  }
}

function otherKind(wasKeyed: boolean): ConfigurationError {
  const [was, wayOut] = wasKeyed
    ? ["with a `key`", "Give the same `key` again"]
    : ["without a `key`, by a run that has not ended", "Run that one to its end"];
  return new ConfigurationError(`The checkpoint was written ${was}. ${wayOut}, or name another checkpoint.`);
}
