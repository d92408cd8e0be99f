import { AbortError, ConfigurationError, TimeoutError } from "../errors.ts";
import { startTimer } from "../timer.ts";
import { onAbort, untilAborted } from "../transport/abort.ts";
import { UnansweredError } from "./row-end.ts";

/** What the guard of `isCurrent` needs of a run. */
export interface CurrentGuardSettings<Row> {
  readonly isCurrent: ((row: Row) => unknown) | undefined;
  /** Says that a row ended because `isCurrent` took too long. */
  readonly warn: (message: string) => void;
}

const longestAgeMs = 1_000;
const mostLateAnswers = 3;

/** The third guard: the caller's `isCurrent` tells whether a row is still the last word (contract 8). */
export class CurrentGuard<Row> {
  readonly #item: Row;
  readonly #settings: CurrentGuardSettings<Row>;
  #askedAt = -Infinity;
  #lateAnswers = 0;

  constructor(item: Row, settings: CurrentGuardSettings<Row>) {
    this.#item = item;
    this.#settings = settings;
  }

  /** Whether the last answer is recent enough to send the row by it. */
  isFresh(): boolean {
    return !this.#settings.isCurrent || performance.now() - this.#askedAt <= longestAgeMs;
  }

  /** The answer before an attempt. Throws if it is too late for the third time. */
  async ask(signal: AbortSignal): Promise<boolean> {
    if (!this.#settings.isCurrent) return true;
    const askedAt = performance.now();
    if (!(await this.#answer(signal))) return false;
    this.#askedAt = askedAt;
    if (this.isFresh() || (this.#lateAnswers += 1) < mostLateAnswers) return true;
    const message =
      "isCurrent took over a second, three times: its answer would be too old. The row was not sent.";
    this.#settings.warn(message);
    const error = new TimeoutError({ message, outcome: "not-sent", timeoutMs: longestAgeMs });
    throw new UnansweredError("unasked", error);
  }

  /** The answer after the response. The end of a run waits a second for it at most: only this answer is missing. */
  async askAgain(stop: AbortSignal): Promise<boolean> {
    if (!this.#settings.isCurrent) return true;
    const late = new AbortController();
    let cancel = () => {};
    const remove = onAbort(stop, () => {
      const message = "The run was aborted, and isCurrent has not answered since.";
      const error = new AbortError({ message, outcome: "applied", cause: stop.reason });
      cancel = startTimer(() => late.abort(error), longestAgeMs);
    });
    try {
      return await this.#answer(late.signal);
    } finally {
      remove();
      cancel();
    }
  }

  /** An aborted call does not wait for an answer. */
  async #answer(signal: AbortSignal): Promise<boolean> {
    try {
      const asked = (async () => await this.#settings.isCurrent?.(this.#item))();
      const answer: unknown = await untilAborted(asked, signal);
      if (typeof answer !== "boolean") throw new ConfigurationError("isCurrent must return true or false.");
      return answer;
    } catch (error) {
      if (signal.aborted) throw error;
      throw new UnansweredError("unasked", error);
    }
  }
}
