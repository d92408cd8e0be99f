import { ConfigurationError } from "../../errors.ts";
import { untilAborted } from "../../transport/abort.ts";
import { kindOf } from "../../values/kind-of.ts";
import { type Guard, type GuardedRow, notSent, RowStop, type Word } from "../guard.ts";

/** The caller's `isCurrent` tells whether a row is still the last word of the caller's own table. */
export class CurrentGuard implements Guard {
  readonly name = "isCurrent";
  readonly maxAgeMs = 1_000;
  readonly isAskedAlways = true;
  readonly #isCurrent: (row: never) => unknown;

  constructor(isCurrent: (row: never) => unknown) {
    this.#isCurrent = isCurrent;
  }

  async ask({ item, writes }: GuardedRow, signal: AbortSignal): Promise<Word[]> {
    if (await this.#answer(item, signal)) return [];
    const message = `isCurrent returned false: ${notSent(writes.map(({ said }) => said))}`;
    throw new RowStop({ kind: "superseded", reason: "not-current" }, message);
  }

  /** A run that ends does not wait for an answer. */
  async #answer(item: unknown, signal: AbortSignal): Promise<boolean> {
    try {
      // Safe: the row of the caller's own function.
      const answer = await untilAborted((async () => await this.#isCurrent(item as never))(), signal);
      if (typeof answer !== "boolean")
        throw new ConfigurationError(`isCurrent must return true or false, not ${kindOf(answer)}.`);
      return answer;
    } catch (error) {
      if (signal.aborted) throw error;
      throw new RowStop({ kind: "failed", error });
    }
  }
}
