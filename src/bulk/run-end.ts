import { AbortError, ClientClosedError } from "../errors.ts";
import { onAbort } from "../transport/abort.ts";

const notSettled =
  "The checkpoint has not settled within a second after the loop was left: the next run takes its last rows as in doubt.";

/** How a run ends: by its first failure, by its caller, or when every row has ended. */
export class RunEnd {
  readonly #stop = new AbortController();
  readonly #early = new AbortController();
  readonly #removeCallbacks: (() => void)[];
  #failure: { readonly error: unknown } | undefined;
  #isLeft = false;

  /** The caller's signal, and the one of `close()`, end the run. */
  constructor(signal: AbortSignal | undefined, closing: AbortSignal) {
    const message = "The run was aborted.";
    const aborted = (): void =>
      this.#interrupt(new AbortError({ message, outcome: "unknown", cause: signal?.reason }));
    const closed = (): void => this.#interrupt(new ClientClosedError("unknown"));
    this.#removeCallbacks = [...(signal ? [onAbort(signal, aborted)] : []), onAbort(closing, closed)];
  }

  /** Aborted when the run ends: no further row starts. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  /** Aborted when the run ends before all its rows, or its caller waits no longer. */
  get early(): AbortSignal {
    return this.#early.signal;
  }

  /** The run ends with its first failure. */
  readonly fail = (error: unknown): void => {
    this.#failure ??= { error };
    this.#stop.abort(error);
    this.#early.abort(error);
  };

  /** The loop over the results has ended; `isWhole`: with every row. */
  leave(isWhole: boolean): void {
    this.#isLeft = true;
    this.#stop.abort();
    if (!isWhole) this.#early.abort(new Error(notSettled));
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Its failure is the run's. */
  async failOnError(work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.fail(error);
    }
  }

  /** Throws the failure. `isUnsent`: no row has ended. */
  settle(isUnsent: boolean): void {
    for (const removeCallback of this.#removeCallbacks) removeCallback();
    if (!this.#failure) return;
    const { error } = this.#failure;
    // Every row that was sent has an end.
    const isInterruption = error instanceof AbortError || error instanceof ClientClosedError;
    if (isInterruption && isUnsent) Object.assign(error, { outcome: "not-sent" });
    throw error;
  }

  /** A run whose loop has ended only waits for its checkpoint, and fails if it waits in vain. */
  #interrupt(error: Error): void {
    if (this.#isLeft) this.#early.abort(error);
    else this.fail(error);
  }
}
