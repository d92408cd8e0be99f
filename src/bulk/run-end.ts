import { AbortError, ClientClosedError } from "../errors.ts";
import type { ClientSettings } from "../open-client.ts";
import { onAbort } from "../transport/abort.ts";
import type { BulkSettings } from "./bulk-options.ts";
import type { ProgressCounter } from "./result.ts";

/** What a run and its rows share. */
export interface RunParts {
  readonly options: BulkSettings<never>;
  readonly end: RunEnd;
  readonly progress: ProgressCounter;
  readonly warnings: RunWarnings;
}

const notSettled =
  "The checkpoint has not settled within a second after the loop was left: the next run takes its last rows as in doubt.";

/** How a run ends: by its first failure, by its caller, or when every row has ended. */
export class RunEnd {
  readonly #stop = new AbortController();
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

  /** Aborted when the run ends before all its rows have: no further row starts. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  /** The run ends with its first failure. */
  readonly fail = (error: unknown): void => {
    this.#failure ??= { error };
    this.#stop.abort(error);
  };

  /** The loop over the results has ended; `isWhole`: with every row. */
  leave(isWhole: boolean): void {
    this.#isLeft = true;
    if (!isWhole) this.#stop.abort(new Error(notSettled));
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
    if (this.#isLeft) this.#stop.abort(error);
    else this.fail(error);
  }
}

/** What a run says to the logger: each thing once. */
export class RunWarnings {
  readonly #observer: ClientSettings["observer"];
  readonly #said = new Set<string>();
  /** The number of rows that may have subscribed somebody of whom nothing was known. */
  unknownPeople = 0;

  constructor(observer: ClientSettings["observer"]) {
    this.#observer = observer;
  }

  readonly sayOnce = (message: string): void => {
    if (this.#isNews(message)) this.#observer.warn(message);
  };

  /** At "info": it is no fault. */
  readonly waitsForCheckpoint = (): void =>
    this.#observer.info(
      "bulk waits for its checkpoint to open: up to 30 s for the lock of another run, which is not renewed",
    );

  /** `onProgress` threw, or rejected. */
  failed(error: unknown): void {
    if (this.#isNews("onProgress")) this.#observer.failed("onProgress", error);
  }

  /** The run is over. */
  end(): void {
    if (this.unknownPeople === 0) return;
    const [rows, whom] =
      this.unknownPeople === 1 ? ["1 row", "somebody"] : [`${this.unknownPeople} rows`, "people"];
    this.sayOnce(
      `${rows} subscribed ${whom} of whom nothing was known: a snapshot shows who has refused at the service`,
    );
  }

  #isNews(what: string): boolean {
    const isNews = !this.#said.has(what);
    this.#said.add(what);
    return isNews;
  }
}
