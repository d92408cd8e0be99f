import * as z from "zod";
import { ConfigurationError } from "../errors.ts";
import { hasMethods } from "../schema/kind-of.ts";
import type { Checkpoint, OpenCheckpoint } from "./checkpoint.ts";

const runKey = "run";

const runSchema = z.object({
  /** Part of the generated ids of events. */
  id: z.string(),
  /** From 1. A run that continues after a crash keeps its number. */
  number: z.number(),
  isKeyed: z.boolean(),
});

/**
 * A run with a checkpoint. It records rows under `row:`, the consents of other calls under `consent:`, and the run
 * itself under `run`.
 *
 * With a `key` the records stay, and the next run compares rows with them. Without a `key` they are deleted when the run
 * has completed.
 */
export class RecordedRun {
  readonly id: string;
  readonly number: number;
  readonly #isKeyed: boolean;
  readonly #checkpoint: OpenCheckpoint;
  readonly #onFailure: (error: unknown) => void;
  #isClosed = false;

  private constructor(
    checkpoint: OpenCheckpoint,
    { id, number, isKeyed }: z.infer<typeof runSchema>,
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
      const run = before === undefined ? { id: crypto.randomUUID(), number: 1, isKeyed } : decodeRun(before);
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

  /** Records that the run is complete: the next run is another one. */
  async complete(): Promise<void> {
    const next = { id: this.id, number: this.number + 1, isKeyed: true };
    if (this.#isKeyed) await this.#checkpoint.set(runKey, JSON.stringify(next));
    else await this.#checkpoint.clear();
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

async function openCheckpoint(checkpoint: Checkpoint): Promise<OpenCheckpoint> {
  const opened: unknown = await checkpoint.open();
  // Safe: it has the methods.
  if (hasMethods(opened, "get", "set", "clear", "close")) return opened as OpenCheckpoint;
  throw new ConfigurationError("`open` of the checkpoint must return { get, set, clear, close }.");
}

function decodeRun(value: string): z.infer<typeof runSchema> {
  try {
    return runSchema.parse(JSON.parse(value));
  } catch {
    throw new ConfigurationError(
      "The checkpoint holds no run of bulk under `run`. Restore it, or begin with an empty one.",
    );
  }
}

function otherKind(wasKeyed: boolean): ConfigurationError {
  const [was, wayOut] = wasKeyed
    ? ["with a `key`", "Give the same `key` again"]
    : ["without a `key`, by a run that has not ended", "Run that one to its end"];
  return new ConfigurationError(`The checkpoint was written ${was}. ${wayOut}, or name another checkpoint.`);
}
