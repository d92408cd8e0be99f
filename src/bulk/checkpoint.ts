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
