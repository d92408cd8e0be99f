import { AbortError, ConfigurationError } from "../errors.ts";
import type { ConsentWrite } from "../transport/consent.ts";
import type { RequestContext } from "../transport/interceptor.ts";
import type { ConsentLog } from "./consent-log.ts";
import type { ReadRow } from "./row-source.ts";
import { isStillNotCurrent, statedLines, type StatedLines } from "./stated-consent.ts";

/** By what the rows of a run may be superseded. */
export interface GuardOfRows<Row> {
  readonly consents: ConsentLog;
  readonly isCurrent: (row: Row) => unknown;
}

/**
 * Keeps a superseded row from being sent: another call has written its contact's consent since, or `isCurrent` is false.
 */
export class RowGuard<Row> {
  /** What the row's calls have stated of the contact's consent. */
  stated: StatedLines = [];
  isNotCurrent = false;
  readonly #row: ReadRow<Row>;
  readonly #run: GuardOfRows<Row>;
  /** An error for each call that was not sent, as one of them may have been sent before. */
  readonly #errors = new Map<RequestContext, AbortError>();

  constructor(row: ReadRow<Row>, run: GuardOfRows<Row>) {
    this.#row = row;
    this.#run = run;
  }

  /** The error of a superseded row: of a call that may have been sent before, if there is one. */
  get error(): AbortError | undefined {
    const errors = [...this.#errors];
    const worst = errors.find(([{ outcome }]) => outcome === "unknown") ?? errors[0];
    return worst?.[1];
  }

  /** Also called for a write that is never sent: the row has made this decision. */
  states(write: ConsentWrite): void {
    this.stated = [...new Set([...this.stated, ...statedLines(write)])];
  }

  /** Throws if another call has written the consent. */
  checkConsent(context: RequestContext): void {
    // No further call of a superseded row is sent.
    const [first] = this.#errors.values();
    if (first) throw this.#supersede(context, first.message);
    const { consentWrite } = context.request;
    if (!consentWrite) return;
    const { before } = this.#row.record;
    const isStillSuperseded = isStillNotCurrent(before?.consent ?? "", this.stated);
    if (isStillSuperseded || this.#run.consents.isOverriddenBy(consentWrite, before, this.stated)) {
      const reason = "Another call has written the contact's consent after the run began";
      throw this.#supersede(context, `${reason}: the row was not sent, or not sent again.`);
    }
  }

  /** Throws if `isCurrent` is false. */
  async checkIsCurrent(context: RequestContext): Promise<void> {
    const isCurrent = await this.#askIsCurrent();
    if (typeof isCurrent !== "boolean") throw new ConfigurationError("isCurrent must return true or false.");
    this.isNotCurrent ||= !isCurrent;
    if (isCurrent) return;
    throw this.#supersede(context, "isCurrent returned false: the row was not sent, or not sent again.");
  }

  async #askIsCurrent(): Promise<unknown> {
    try {
      return await this.#run.isCurrent(this.#row.item);
    } catch (error) {
      throw new IsCurrentError("isCurrent failed", { cause: error });
    }
  }

  #supersede(context: RequestContext, message: string): AbortError {
    const error = new AbortError({ message, outcome: "not-sent", cause: undefined });
    this.#errors.set(context, error);
    return error;
  }
}

/** What `isCurrent` has thrown, as `cause`. It is no failure of the attempt that waits for it, and is not retried as one. */
export class IsCurrentError extends Error {}
