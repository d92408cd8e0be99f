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
  /** This process has been without Redis, and so, most likely, were others. */
  readonly isReturning: boolean;
  /** Called before anything else once Redis has written it down. */
  readonly onWritten: () => void;
}

/** Tells Redis how permits stand, and of successes and refusals. What fails is told with a later release. */
export class PermitWriter {
  readonly #options: PermitWriterOptions;
  #successes = 0;
  /** Until when a 429 pauses everybody; undefined where Redis has been told of all. */
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

  /** Whether Redis has yet to be told of a 429. */
  get hasRefusal(): boolean {
    return this.#refusedUntil !== undefined;
  }

  /** Tells of these permits. */
  report(ids: readonly string[]): void {
    void this.#write(this.#options.own.some(ids));
  }

  /** Tells of all permits that still count; gives whether Redis has written them down. */
  writeAllBack(returning?: Returning): Promise<boolean> {
    const { own, clock } = this.#options;
    return this.#write(own.all(clock()), returning);
  }

  /** Asks Redis in words that change nothing there: whether it hears this process, and is heard (D51). */
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
    // Told once at a time, as each halves the rate.
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
        // Where its pause is over, a 429 still halves the rate.
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
      // What happened while Redis was being told.
      if (changed.length > 0) this.report(changed);
    }
    onReply(reply);
    // Another 429 came meanwhile.
    if (reportsRefusal && this.hasRefusal) this.report([]);
    return true;
  }
}
