/**
 * Records what a run learns, so that it can continue after a crash, and the next run sends the rows that have changed.
 * `fileCheckpoint` of `audience-sdk/checkpoint` uses a file; write your own to use a database.
 *
 * ```ts
 * const checkpoint: Checkpoint = { open: async () => new MyJournal(await connect()) };
 * ```
 */
export interface Checkpoint {
  /** Called once, when the run starts. Must reject while another run has it open. */
  open(): Promise<OpenCheckpoint>;
}

/**
 * An open checkpoint: a journal of lines of text that outlives the process. A line holds hashes of rows and contacts, and
 * no line break. A rejection of `append` ends the run, because it must not continue without a record.
 */
export interface OpenCheckpoint {
  /** The lines so far, in order. Read once, before the first `append`. */
  readonly lines: AsyncIterable<string>;
  /**
   * Adds a line. Lines count in the order of the calls, whichever resolves first. Resolves once a crash of this process
   * cannot lose the line, nor any before it; with `flush`, once a loss of power cannot.
   */
  append(line: string, options: { readonly flush: boolean }): Promise<void>;
  /**
   * Replaces all lines, in one step. Called before the first `append`, if the journal has grown to twice the bytes that
   * count, and at the end of a run without a `key`.
   */
  rewrite(lines: Iterable<string>): Promise<void>;
  /** Called once, when the run has ended: another run may then open it. */
  close(): Promise<void>;
}
