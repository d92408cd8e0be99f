/** What is on record of a row: its success, or that it was sent, may have been carried out, and must not be again. */
export type RecordedState = "succeeded" | "in-doubt";

/**
 * Where a run keeps track of its rows, so that it can go on after a crash. `fileCheckpoint` of `audience-sdk/checkpoint`
 * keeps them in a file; write one of your own to keep them in a database.
 *
 * ```ts
 * const checkpoint: Checkpoint = { open: async () => new MyTable(await connect()) };
 * ```
 */
export interface Checkpoint {
  /** Called once, when the run starts. Rejects where another run has it open. */
  open(): Promise<OpenCheckpoint>;
}

/** A checkpoint in use by one run. What rejects ends the run: it must not go on without its record. */
export interface OpenCheckpoint {
  /** The same for the life of the checkpoint: ids of events are made from it and the row's key. */
  readonly id: string;
  /** What is on record of a row; undefined where nothing is, or the row may be sent again. */
  stateOf(key: string): RecordedState | undefined | Promise<RecordedState | undefined>;
  /** Puts a row on record, or with undefined takes it back off. Resolves once a crash of this process cannot lose it. */
  record(key: string, state: RecordedState | undefined): void | Promise<void>;
  /** Called once, when the run has ended: lets another run open it. */
  close(): void | Promise<void>;
}
