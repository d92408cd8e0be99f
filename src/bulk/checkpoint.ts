import { ConfigurationError } from "../errors.ts";
import { unlessLate } from "../transport/abort-signal.ts";
import { hasMethods, isObject } from "../values/predicates.ts";

/** The symbol is registered, as both module formats share the checkpoint. */
export const readAlone = Symbol.for("audience-sdk.checkpoint-entries");

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
  /** @internal The entries of a file, read without its lock. */
  [readAlone]?(): OpenCheckpoint["entries"];
}

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

/** The longest time for a method of a checkpoint: then the run ends, as where it fails. After the run: a second (D153). */
const longestMethodS = { ofRun: 30, ofEnd: 1 };

/**
 * Opens a checkpoint of anyone's. What its methods throw is a rejection here, a method that hangs has failed, and `failRun`
 * gets both: a run must not continue without a record.
 */
export async function openCheckpoint(
  checkpoint: Checkpoint,
  { failRun, stop }: { readonly failRun: (error: unknown) => void; readonly stop: AbortSignal },
): Promise<OpenCheckpoint> {
  const opened: unknown = await checkpoint.open();
  if (!hasMethods(opened, "put", "clear", "close") || !("entries" in opened && isObject(opened.entries)))
    throw new ConfigurationError("`open` of the checkpoint must return { entries, put, clear, close }.");
  // Safe: checked as far as its methods go; the compiler asks the caller for the rest.
  const checkpointTable = opened as OpenCheckpoint;
  const settled = async (method: string, call: () => Promise<void>): Promise<void> => {
    const longestS = stop.aborted ? longestMethodS.ofEnd : longestMethodS.ofRun;
    try {
      await unlessLate((async () => await call())(), longestS * 1_000, () => {
        throw new Error(
          `\`${method}\` of the checkpoint has not settled within ${longestS} s; the run stops, so that no row ` +
            "goes unrecorded. Mend the cause, such as a lost connection, and run it again: it continues from what is recorded.",
        );
      });
    } catch (error) {
      failRun(error);
      throw error;
    }
  };
  return {
    entries: checkpointTable.entries,
    put: (name, line, options) => settled("put", () => checkpointTable.put(name, line, options)),
    clear: () => settled("clear", () => checkpointTable.clear()),
    close: () => settled("close", () => checkpointTable.close()),
  };
}
