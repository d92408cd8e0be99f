import type { ClientSettings } from "../open-client.ts";
import type { BulkSettings } from "./bulk-options.ts";
import type { ProgressCounter } from "./result.ts";
import type { RunEnd } from "./run-end.ts";

/** The parts of a bulk run that its rows and its guards share. */
export interface RunParts {
  readonly options: BulkSettings<never>;
  readonly runEnd: RunEnd;
  readonly progress: ProgressCounter;
  readonly warnings: RunWarnings;
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
