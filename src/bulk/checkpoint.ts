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
  /** The last value of the key; undefined if there is none. */
  get(key: string): string | undefined | Promise<string | undefined>;
  /**
   * Sets the value of the key; undefined deletes it. Resolves once a crash of this process cannot lose it; with
   * `flush`, once a loss of power cannot.
   */
  set(
    key: string,
    value: string | undefined,
    options?: { readonly flush?: boolean | undefined },
  ): void | Promise<void>;
  /** Deletes all values. */
  clear(): void | Promise<void>;
  /** Called once, when the run has ended: another run may then open it. */
  close(): void | Promise<void>;
}
