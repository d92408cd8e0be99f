import { ConfigurationError } from "../../errors.ts";
import { untilAborted } from "../../transport/abort-signal.ts";
import { kindOf } from "../../values/in-words.ts";
import { type Guard, type GuardedRow, RowStop, superseded } from "./guard.ts";

/** The caller's `isCurrent` tells whether a row is still the last word of the caller's own table. */
export class IsCurrentGuard implements Guard {
  readonly name = "isCurrent";
  readonly maxAgeMs = 1_000;
  readonly isAskedAlways = true;
  readonly #isCurrent: (row: never) => unknown;

  constructor(isCurrent: (row: never) => unknown) {
    this.#isCurrent = isCurrent;
  }

  async ask(row: GuardedRow, signal: AbortSignal) {
    const askedAt = performance.now();
    let answer: unknown;
    try {
      // Safe: the row of the caller's own `isCurrent`. A run that ends does not wait for its answer.
      answer = await untilAborted((async () => await this.#isCurrent(row.item as never))(), signal);
      if (typeof answer !== "boolean")
        throw new ConfigurationError(`isCurrent must return true or false, not ${kindOf(answer)}.`);
    } catch (error) {
      throw signal.aborted ? error : new RowStop({ errorOf: () => error });
    }
    if (!answer) throw superseded("isCurrent returned false", "not-current");
    return { askedAt, words: [] };
  }
}
