import type { Permit } from "../rate-limiter/permit.ts";
import type { AbsenceObserver } from "../rate-limiter/store.ts";
import { inBackground } from "./background-timer.ts";
import type { LocalFallback } from "./local-fallback.ts";
import { heartbeatMs, recoveryMs, replyTimeoutMs, retryIntervalMs } from "./permit-scripts.ts";
import type { PermitWriter } from "./permit-writer.ts";

// All others return this long after the first: a timeout, the interval to the next attempt, and its latency (D51).
const othersReturnWithinMs = replyTimeoutMs + retryIntervalMs + 500;

interface UnavailabilityOptions {
  readonly onUnavailable: "local" | "reject";
  readonly clock: () => number;
  readonly writer: PermitWriter;
  /** Redis is available again, and recovers if `isReturning`; requests continue at `resumeAt`. */
  readonly onReturn: (fallback: LocalFallback, how: { isReturning: boolean; resumeAt: number }) => void;
}

/** While Redis is unavailable: the local count, the reason, the observers, and the return. */
export class Unavailability {
  readonly #options: UnavailabilityOptions;
  /** The number of waiting calls of each observer. */
  readonly #waiting = new Map<AbsenceObserver, number>();
  #fallback: LocalFallback | undefined;
  #reason = "";
  #since = 0;
  #backAt = -Infinity;
  #isRetryScheduled = false;

  constructor(options: UnavailabilityOptions) {
    this.#options = options;
  }

  /** The local count; undefined while Redis is available. */
  get fallback(): LocalFallback | undefined {
    return this.#fallback;
  }

  /** Why no call gets a permit; undefined if calls do. */
  get refusal(): string | undefined {
    if (!this.#fallback) return undefined;
    const message = `The rate limit store is unavailable: ${this.#reason}.`;
    if (this.#options.onUnavailable === "reject") return message;
    return this.#fallback.isTooSmall
      ? `${message} \`localShare\` of a limit is less than one permit.`
      : undefined;
  }

  /** Redis is unavailable, possibly for some time already; schedules the next attempt. */
  begin(reason: unknown, fallback: () => LocalFallback): void {
    this.#reason = reason instanceof Error ? reason.message : "no reason given";
    if (!this.#fallback) {
      this.#since = this.#options.clock();
      this.#fallback = fallback();
      this.#notify();
    }
    if (this.#isRetryScheduled) return;
    this.#isRetryScheduled = true;
    inBackground(retryIntervalMs, () => {
      this.#isRetryScheduled = false;
      void this.#tryToReturn();
    });
  }

  /** Notifies the call's observer of the state, and of each change while the call waits. */
  observe(observer: AbsenceObserver, permit: Permit | Promise<Permit>): void {
    observer.limitsAlone(this.#warning());
    if (!(permit instanceof Promise)) return;
    const add = (calls: number): void => {
      const waiting = (this.#waiting.get(observer) ?? 0) + calls;
      if (waiting > 0) this.#waiting.set(observer, waiting);
      else this.#waiting.delete(observer);
    };
    const leave = (): void => add(-1);
    add(1);
    permit.then(leave, leave);
  }

  async #tryToReturn(): Promise<void> {
    const { clock, writer, onReturn } = this.#options;
    if (!(await writer.isReachable())) return;
    const fallback = this.#fallback!; // Safe: only this method ends it
    // A short gap in which nothing was sent needs no recovery.
    const isReturning = fallback.acquired > 0 || clock() - this.#since > 2 * heartbeatMs;
    // Others may have missed a brief contact, and may still continue alone.
    const hadBriefContact = this.#since < this.#backAt + recoveryMs;
    const onWritten = (): void => {
      const now = clock();
      const othersMs = isReturning || hadBriefContact ? othersReturnWithinMs : 0;
      this.#fallback = undefined;
      this.#backAt = now;
      onReturn(fallback, { isReturning, resumeAt: now + othersMs });
      this.#notify();
    };
    await writer.writeAllBack({ isReturning, onWritten });
  }

  #notify(): void {
    for (const observer of this.#waiting.keys()) observer.limitsAlone(this.#warning());
  }

  /** The warning while this process continues without Redis. */
  #warning(): string | undefined {
    if (!this.#fallback || this.refusal !== undefined) return undefined;
    return `the rate limit store is unavailable: ${this.#reason}; this process continues with its share`;
  }
}
