/**
 * Where a run keeps track of its rows, so that it can go on after a crash, and the next run sends what has changed.
 * `fileCheckpoint` of `audience-sdk/checkpoint` keeps it in a file; write one of your own to keep it in a database.
 *
 * ```ts
 * const checkpoint: Checkpoint = { open: async () => new MyTable(await connect()) };
 * ```
 */
export interface Checkpoint {
  /** Called once, when the run starts. Rejects where another run has it open. */
  open(): Promise<OpenCheckpoint>;
}

/**
 * A checkpoint in use by one run: a map that outlives the process. Its keys may hold what `key` of the run gives, such
 * as e-mail addresses. What rejects ends the run: it must not go on without its record.
 */
export interface OpenCheckpoint {
  /** What was last set under the key; undefined where nothing is. */
  get(key: string): CheckpointValue | undefined | Promise<CheckpointValue | undefined>;
  /**
   * Keeps a value under the key, or with undefined forgets it. Resolves once a crash of this process cannot lose it;
   * with `flush`, once a loss of power cannot.
   */
  set(
    key: string,
    value: CheckpointValue | undefined,
    options?: { readonly flush?: boolean | undefined },
  ): void | Promise<void>;
  /** Forgets everything. */
  clear(): void | Promise<void>;
  /** Called once, when the run has ended: lets another run open it. */
  close(): void | Promise<void>;
}

/** A small JSON object. What it holds is the run's own affair. */
export type CheckpointValue = Readonly<Record<string, unknown>>;
