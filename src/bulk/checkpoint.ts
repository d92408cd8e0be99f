import * as z from "zod";
import { ConfigurationError } from "../errors.ts";
import { hasMethods } from "../schema/predicates.ts";
import { recordTarget, targetSchema, type Target } from "./target.ts";

/**
 * Records the rows of a run, so that it can continue after a crash, and the next run sends the rows that have changed.
 * `fileCheckpoint` of `audience-sdk/checkpoint` uses a file; write your own to use a database.
 *
 * ```ts
 * const checkpoint: Checkpoint = { open: async () => new MyTable(await connect()) };
 * ```
 */
export interface Checkpoint {
  /** Called once, when the run starts. Must reject while another run has it open. */
  open(): Promise<OpenCheckpoint>;
}

/**
 * An open checkpoint: a map of short strings that outlives the process. Its keys may hold the keys of rows, such as
 * e-mail addresses. A rejection ends the run, because it must not continue without a record.
 */
export interface OpenCheckpoint {
  /** The last value of the key; undefined or null if there is none. */
  get(key: string): string | null | undefined | Promise<string | null | undefined>;
  /**
   * Sets the value of the key; undefined deletes it. Resolves once a crash of this process cannot lose it; with
   * `flush`, once a loss of power cannot.
   */
  set(
    key: string,
    value: string | undefined,
    options?: { readonly flush?: boolean | undefined },
  ): void | Promise<unknown>;
  /** Deletes all values. */
  clear(): void | Promise<unknown>;
  /** Called once, when the run has ended: another run may then open it. */
  close(): void | Promise<unknown>;
}

const runKey = "run";

const runSchema = z.object({
  /** Part of the generated ids of events, and the salt of the target's keys. */
  id: z.string(),
  /** From 1; one more each time that the checkpoint is opened. */
  number: z.number(),
  /** Its first number: a run that continues, after a crash or an early end, has had several. */
  since: z.number(),
  isKeyed: z.boolean(),
  target: targetSchema,
});

type Run = z.infer<typeof runSchema>;

export type RecordedRun = Awaited<ReturnType<typeof openRecordedRun>>;

/**
 * Opens a checkpoint for a run, which records rows under `row:`, the consents of other calls under `consent:`, and itself
 * under `run`. `onFailure` is called if the checkpoint fails: the run must not continue without a record. Rejects, and
 * closes the checkpoint, when `signal` is aborted.
 */
export async function openRecordedRun(
  checkpoint: Checkpoint,
  {
    isKeyed,
    target,
    signal,
    onFailure,
  }: { isKeyed: boolean; target: Target; signal: AbortSignal; onFailure: (error: unknown) => void },
) {
  const opened = await checkpoint.open();
  if (!hasMethods(opened, "get", "set", "clear", "close"))
    throw new ConfigurationError("`open` of the checkpoint must return { get, set, clear, close }.");
  const run = await readRun(opened, { isKeyed, target, signal });
  let isClosed = false;
  const guard = async <T>(work: () => T | Promise<T>): Promise<T> => {
    // The call of a row after the end of its run: another run may use the checkpoint now.
    if (isClosed) throw new ConfigurationError("The run is over, and its checkpoint is closed.");
    try {
      return await work();
    } catch (error) {
      // What the end of the run has cut off is no failure.
      if (!isClosed) onFailure(error);
      throw error;
    }
  };
  return {
    ...run,
    fail: onFailure,
    get: (key: RecordKey) => guard(async () => (await opened.get(key)) ?? undefined),
    set: (key: RecordKey, value: string | undefined, options?: { flush: boolean }) =>
      guard(async () => void (await opened.set(key, value, options))),
    /** The next run is another one: with a `key` it compares its rows with these, and without one it begins afresh. */
    async complete() {
      if (isKeyed) await opened.set(runKey, JSON.stringify({ ...run, since: run.number + 1 }));
      else await opened.clear();
    },
    async close() {
      isClosed = true;
      await opened.close();
    },
  };
}

type RecordKey = `row:${string}` | `consent:${string}`;

/** The run that has not ended, or a new one. Recorded before the first row, so that no other target goes on with it. */
async function readRun(
  opened: OpenCheckpoint,
  { isKeyed, target, signal }: { isKeyed: boolean; target: Target; signal: AbortSignal },
): Promise<Run> {
  try {
    const value = (await opened.get(runKey)) ?? undefined;
    const before = value === undefined ? undefined : decodeRun(value);
    if (before && before.isKeyed !== isKeyed) {
      const kind = before.isKeyed ? "with" : "without";
      throw new ConfigurationError(
        `The checkpoint was written ${kind} a \`key\`. Run it ${kind} a \`key\` again, or name another checkpoint.`,
      );
    }
    const { id, number, since } = before ?? { id: crypto.randomUUID(), number: 0, since: 1 };
    const recorded = await recordTarget(target, before?.target, { salt: id, signal });
    const run = { id, number: number + 1, since, isKeyed, target: recorded };
    await opened.set(runKey, JSON.stringify(run));
    return run;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

function decodeRun(value: string): Run {
  try {
    return runSchema.parse(JSON.parse(value));
  } catch {
    throw new ConfigurationError(
      "The checkpoint's record of its run (`run`) is damaged, or of an earlier version that named no service. Restore " +
        "it, or end its run with the version that wrote it. Another checkpoint sends every row, and knows none of the " +
        "consents that this one keeps from being overridden.",
    );
  }
}
