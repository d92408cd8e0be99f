import { AbortError, ClientClosedError } from "../errors.ts";
import type { ClientSettings } from "../open-client.ts";
import { onAbort } from "../transport/abort-signal.ts";
import type { BulkSettings } from "./bulk-options.ts";
import type { ProgressCounter } from "./result.ts";

/** The parts of a bulk run that its rows and its guards share. */
export interface RunParts {
  readonly options: BulkSettings<never>;
  readonly runEnd: RunEnd;
  readonly progress: ProgressCounter;
  readonly warnings: RunWarnings;
}

/** How a run ends: by its first failure, by its caller, or when every row has ended. */
export class RunEnd {
  readonly #stop = new AbortController();
  /** Aborted when the run ends before all its rows have: no further row starts. */
  readonly stop = this.#stop.signal;
  readonly #removeListeners: (() => void)[];
  #failure: { readonly error: unknown } | undefined;

  constructor(signal: AbortSignal | undefined, closing: AbortSignal) {
    const message = "The run was aborted.";
    const aborted = (): void =>
      this.failRun(new AbortError({ message, outcome: "unknown", cause: signal?.reason }));
    const closed = (): void => this.failRun(new ClientClosedError("unknown"));
    this.#removeListeners = [...(signal ? [onAbort(signal, aborted)] : []), onAbort(closing, closed)];
  }

  readonly failRun = (error: unknown): void => {
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
      this.failRun(error);
    }
  }

  /** Throws the failure of the run. `isUnsent`: none of its rows has ended. */
  throwFailure(isUnsent: boolean): void {
    for (const removeListener of this.#removeListeners) removeListener();
    if (!this.#failure) return;
    const { error } = this.#failure;
    // Every row of the run that was sent has an end.
    const isInterruption = error instanceof AbortError || error instanceof ClientClosedError;
    if (isInterruption && isUnsent) Object.assign(error, { outcome: "not-sent" });
    throw error;
  }
}

export class RunWarnings {
  readonly #observer: ClientSettings["observer"];
  readonly #warned = new Set<string>();

  constructor(observer: ClientSettings["observer"]) {
    this.#observer = observer;
  }

  warnOnce(message: string, warn = () => this.#observer.warn(message)): void {
    if (!this.#warned.has(message)) warn();
    this.#warned.add(message);
  }
}
