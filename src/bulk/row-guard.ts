import type { ConsentWrite } from "../consent.ts";
import { AbortError, ConfigurationError } from "../errors.ts";
import type { ConsentLog } from "./consent-log.ts";
import type { ReadRow } from "./row-source.ts";
import { isStillNotCurrent, statedLines, type StatedLines } from "./stated-consent.ts";

const notSent = "the row was not sent, or not sent again.";

/** By what the rows of a run may be superseded. */
export interface GuardOfRows<Row> {
  readonly consents: ConsentLog;
  readonly isCurrent: (row: Row) => unknown;
}

/**
 * Keeps a superseded row from being sent: another call has written its contact's consent since, or `isCurrent` is false.
 */
export class RowGuard<Row> {
  /** What the row's calls have stated of their contacts' consents, for its record. */
  stated: StatedLines = [];
  /** The row stays superseded until its consent changes: `isCurrent` was false, or its decision may be the older one. */
  isLasting = false;
  /** The row's decision is a refusal, and may be later than the other one: the run after this one sends it. */
  isForThisRun = false;
  /** The error of the first call that was superseded. */
  error: AbortError | undefined;
  /** The writes that have come to be sent. */
  readonly #writes = new Set<ConsentWrite>();
  readonly #row: ReadRow<Row>;
  readonly #run: GuardOfRows<Row>;

  constructor(row: ReadRow<Row>, run: GuardOfRows<Row>) {
    this.#row = row;
    this.#run = run;
  }

  /** Also called for a write that is never sent: the row has made this decision. */
  states(write: ConsentWrite): void {
    this.stated = [...new Set([...this.stated, ...statedLines(write)])];
  }

  /** Throws if another call has written the consent. */
  checkConsent(consentWrite: ConsentWrite | undefined): void {
    // No further call of a superseded row is sent.
    if (this.error) throw this.#supersede(this.error.message);
    if (!consentWrite) return;
    this.#writes.add(consentWrite);
    const { before } = this.#row.record;
    const isStillSuperseded = isStillNotCurrent(before?.consent ?? "", linesOf(this.#writes));
    // Of the same contact: what the row states of another one is no decision about this one.
    const own = [...this.#writes].filter(({ contacts }) =>
      contacts.some((contact) => consentWrite.contacts.includes(contact)),
    );
    const superseded = this.#run.consents.supersedes(consentWrite, before, linesOf(own));
    if (!isStillSuperseded && !superseded) return;
    if (!isStillSuperseded) {
      this.isForThisRun = superseded === "for-this-run";
      this.isLasting = superseded === "in-question";
    }
    throw this.#supersede(`Another call has written the contact's consent after the run began: ${notSent}`);
  }

  /** Throws if `isCurrent` is false. */
  async checkIsCurrent(): Promise<void> {
    if (await this.#isCurrent()) return;
    this.isLasting = true;
    throw this.#supersede(`isCurrent returned false: ${notSent}`);
  }

  async #isCurrent(): Promise<boolean> {
    try {
      const isCurrent = await this.#run.isCurrent(this.#row.item);
      if (typeof isCurrent === "boolean") return isCurrent;
      throw new ConfigurationError("isCurrent must return true or false.");
    } catch (error) {
      throw new IsCurrentError("isCurrent failed", { cause: error });
    }
  }

  /** Each call has an error of its own, as one of them may have been sent before. */
  #supersede(message: string): AbortError {
    const error = new AbortError({ message, outcome: "not-sent", cause: undefined });
    this.error ??= error;
    return error;
  }
}

function linesOf(writes: Iterable<ConsentWrite>): StatedLines {
  return [...new Set([...writes].flatMap(statedLines))];
}

/** What `isCurrent` has thrown, as `cause`. It is no failure of the attempt that waits for it, and is not retried as one. */
export class IsCurrentError extends Error {}
