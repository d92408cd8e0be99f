import type { OwnPermits } from "./own-permits.ts";
import { permitStates } from "./own-permits.ts";
import type { ScriptReply, ScriptRequest } from "./permit-scripts.ts";
import type { ScriptCalls } from "./script-calls.ts";

interface PermitWriterOptions {
  readonly calls: ScriptCalls;
  readonly own: OwnPermits;
  readonly clock: () => number;
  readonly request: () => ScriptRequest;
  readonly onReply: (reply: ScriptReply) => void;
  readonly onFailure: (reason: unknown) => void;
}

interface Returning {
  /** This process was without Redis, and probably others were, too. */
  readonly isReturning: boolean;
  /** Called first, once Redis has stored the permits. */
  readonly onWritten: () => void;
}

/** Reports the states of permits, successes and refusals to Redis. A failed report is repeated with a later release. */
export class PermitWriter {
  readonly #options: PermitWriterOptions;
  #successes = 0;
  /** Until when a 429 pauses all processes; undefined once it is reported. */
  #refusedUntil: number | undefined;
  #isReportingRefusal = false;

  constructor(options: PermitWriterOptions) {
    this.#options = options;
  }

  recordSuccess(): void {
    this.#successes += 1;
  }

  recordRefusal(pausedUntil: number): void {
    this.#refusedUntil = Math.max(this.#refusedUntil ?? -Infinity, pausedUntil);
  }

  /** Whether a 429 is not reported yet. */
  get hasRefusal(): boolean {
    return this.#refusedUntil !== undefined;
  }

  /** Reports these permits. */
  report(ids: readonly string[]): void {
    void this.#write(this.#options.own.some(ids));
  }

  /** Reports all permits that count; resolves with whether Redis has stored them. */
  writeAllBack(returning?: Returning): Promise<boolean> {
    const { own, clock } = this.#options;
    return this.#write(own.all(clock()), returning);
  }

  /** Whether Redis replies, by a release that changes nothing (D51). */
  async isReachable(): Promise<boolean> {
    const { calls, request, onFailure } = this.#options;
    try {
      await calls.release({ ...request(), epoch: undefined, permits: [], succeeded: 0, isReturning: false });
      return true;
    } catch (reason) {
      onFailure(reason);
      return false;
    }
  }

  async #write(states: ReturnType<OwnPermits["all"]>, returning?: Returning): Promise<boolean> {
    const { calls, own, clock, request, onReply, onFailure } = this.#options;
    const now = clock();
    const succeeded = this.#successes;
    // One report at a time, because each halves the rate.
    const refusedUntil = this.#isReportingRefusal ? undefined : this.#refusedUntil;
    const reportsRefusal = refusedUntil !== undefined;
    this.#successes = 0;
    if (reportsRefusal) this.#isReportingRefusal = true;
    let reply: ScriptReply;
    try {
      reply = await calls.release({
        ...request(),
        permits: permitStates(states, now),
        succeeded,
        // Even after its pause, a 429 halves the rate.
        ...(reportsRefusal && { refusedForMs: Math.max(0, refusedUntil - now) }),
        isReturning: returning?.isReturning === true,
      });
    } catch (reason) {
      this.#successes += succeeded;
      if (reportsRefusal) this.#isReportingRefusal = false;
      onFailure(reason);
      return false;
    }
    if (reportsRefusal) this.#isReportingRefusal = false;
    if (this.#refusedUntil === refusedUntil) this.#refusedUntil = undefined;
    const changed = own.acknowledge(states);
    if (returning) {
      returning.onWritten();
      // Changes during the report.
      if (changed.length > 0) this.report(changed);
    }
    onReply(reply);
    // Another 429 arrived meanwhile.
    if (reportsRefusal && this.hasRefusal) this.report([]);
    return true;
  }
}
