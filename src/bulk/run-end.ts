import { AbortError, ClientClosedError } from "../errors.ts";
import type { ClientSettings } from "../open-client.ts";
import { onAbort } from "../transport/abort-signal.ts";
import type { BulkSettings } from "./bulk-options.ts";
import type { ProgressCounter } from "./result.ts";

export interface RunParts {
  readonly options: BulkSettings<never>;
  readonly end: RunEnd;
  readonly progress: ProgressCounter;
  readonly warnings: RunWarnings;
}

/** How a run ends: by its first failure, by its caller, or when every row has ended. */
export class RunEnd {
  readonly #stop = new AbortController();
  readonly #removeCallbacks: (() => void)[];
  #failure: { readonly error: unknown } | undefined;

  constructor(signal: AbortSignal | undefined, closing: AbortSignal) {
    const message = "The run was aborted.";
    const aborted = (): void =>
      this.fail(new AbortError({ message, outcome: "unknown", cause: signal?.reason }));
    const closed = (): void => this.fail(new ClientClosedError("unknown"));
    this.#removeCallbacks = [...(signal ? [onAbort(signal, aborted)] : []), onAbort(closing, closed)];
  }

  /** Aborted when the run ends before all its rows have: no further row starts. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  readonly fail = (error: unknown): void => {
    this.#failure ??= { error };
    this.#stop.abort(error);
  };

  /** The loop over the results has ended, perhaps before every row has. */
  leave(): void {
    this.#stop.abort();
  }

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
}

export class RunWarnings {
  readonly #observer: ClientSettings["observer"];
  readonly #said = new Set<string>();
  /** The number of rows that may have subscribed somebody of whom nothing was known. */
  unknownPeople = 0;

  constructor(observer: ClientSettings["observer"]) {
    this.#observer = observer;
  }

  sayOnce(message: string, say = () => this.#observer.warn(message)): void {
    if (!this.#said.has(message)) say();
    this.#said.add(message);
  }

  end(): void {
    const what = "rows that subscribed somebody of whom nothing was known, as no snapshot has them";
    if (this.unknownPeople > 0) this.sayOnce(`${what}: ${this.unknownPeople}`);
  }
}
