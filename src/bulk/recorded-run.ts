import { ConfigurationError } from "../errors.ts";
import { hasMethods } from "../schema/kind-of.ts";
import type { Checkpoint, OpenCheckpoint } from "./checkpoint.ts";

const runKey = "run";

/**
 * A run with a checkpoint: what it keeps there, and under which keys. The rows are under `row:`, the consents that other
 * calls wrote under `consent:`, the run itself under `run`.
 *
 * With a `key` the records stay, and the next run compares with them. Without one a checkpoint serves one run: when
 * that has ended whole, everything is forgotten.
 */
export class RecordedRun {
  /** Ids of events are made from it. */
  readonly id: string;
  /** Which run over this checkpoint it is, from 1. A run that goes on after a crash has the number of the one before. */
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

  /** `onFailure` is told of a checkpoint that cannot keep its record: the run must not go on without. */
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

  /** Every row has ended, and nothing has failed: what comes next is another run. */
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
    // A row that calls when its run is over: another run may have the checkpoint by now.
    if (this.#isClosed) throw new ConfigurationError("The run is over, and its checkpoint is closed.");
    try {
      return await work();
    } catch (error) {
      this.#onFailure(error);
      throw error;
    }
  }
}

/** One that cannot keep a record is refused before a row is sent: the next run would send again what this one did. */
async function openCheckpoint(checkpoint: Checkpoint): Promise<OpenCheckpoint> {
  const opened: unknown = await checkpoint.open();
  // Safe: it has just been found to be one.
  if (hasMethods(opened, "get", "set", "clear", "close")) return opened as OpenCheckpoint;
  throw new ConfigurationError("`open` of the checkpoint must give { get, set, clear, close }.");
}

function decodeRun(value: string): { id: string; number: number; isKeyed: boolean } {
  const { id, number, isKeyed } = parse(value) as Record<string, unknown>; // Safe: whatever it is, it is looked at.
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
