import type { OpenCheckpoint, RecordedState } from "./checkpoint.ts";

/** The line of one row in the run's checkpoint, where there is one. */
export class RowRecord {
  readonly #checkpoint: OpenCheckpoint | undefined;
  readonly #key: string;
  readonly #onFailure: (error: unknown) => void;

  /** `onFailure` hears of a checkpoint that cannot keep its record: the run must not go on without. */
  constructor(checkpoint: OpenCheckpoint | undefined, key: string, onFailure: (error: unknown) => void) {
    this.#checkpoint = checkpoint;
    this.#key = key;
    this.#onFailure = onFailure;
  }

  read(): Promise<RecordedState | undefined> {
    return this.#heard(() => this.#checkpoint?.stateOf(this.#key));
  }

  write(state: RecordedState | undefined): Promise<void> {
    return this.#heard(() => this.#checkpoint?.record(this.#key, state));
  }

  async #heard<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#onFailure(error);
      throw error;
    }
  }
}
