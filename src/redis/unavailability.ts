import type { Permit } from "../rate-limiter/permit.ts";
import type { AbsenceObserver } from "../rate-limiter/store.ts";
import { inBackground } from "./background-timer.ts";
import type { LocalFallback } from "./local-fallback.ts";
import { heartbeatMs, recoveryMs, replyTimeoutMs, retryIntervalMs } from "./permit-scripts.ts";
import type { PermitWriter } from "./permit-writer.ts";

// This long after the first all others are back too: a try that hangs, the time to the next, and its way (D51).
const othersReturnWithinMs = replyTimeoutMs + retryIntervalMs + 500;

interface UnavailabilityOptions {
  readonly onUnavailable: "local" | "reject";
  readonly clock: () => number;
  readonly writer: PermitWriter;
  /** Redis is there again, and recovers where `isReturning`; it is asked from `askFrom` on. */
  readonly onReturn: (fallback: LocalFallback, how: { isReturning: boolean; resumeAt: number }) => void;
}

/** While Redis is unavailable: the count of this process alone, why that is so, who is told of it, and the way back. */
export class Unavailability {
  readonly #options: UnavailabilityOptions;
  /** Who has calls that wait, and how many. */
  readonly #waiting = new Map<AbsenceObserver, number>();
  #fallback: LocalFallback | undefined;
  #reason = "";
  #since = 0;
  #backAt = -Infinity;
  #isRetryScheduled = false;

  constructor(options: UnavailabilityOptions) {
    this.#options = options;
  }

  /** The count of this process alone; undefined while Redis is there. */
  get fallback(): LocalFallback | undefined {
    return this.#fallback;
  }

  /** Why nobody gets a permit, where that is so. */
  get refusal(): string | undefined {
    if (!this.#fallback) return undefined;
    const message = `The rate limit store is unavailable: ${this.#reason}.`;
    if (this.#options.onUnavailable === "reject") return message;
    return this.#fallback.isTooSmall
      ? `${message} \`localShare\` of a limit is less than one permit.`
      : undefined;
  }

  /** Redis was found unavailable, once more where it is so already; it is tried again soon. */
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

  /** Tells whose call it is how things stand, and as long as the call waits each time that it changes. */
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
    const fallback = this.#fallback!; // it ends here alone
    // A moment's silence in which nothing was sent is no absence: others need not wait for it.
    const isReturning = fallback.acquired > 0 || clock() - this.#since > 2 * heartbeatMs;
    // Back for a moment, while others may have missed it and have gone on alone since before.
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

  /** While this process goes on without Redis: that, and why. */
  #warning(): string | undefined {
    if (!this.#fallback || this.refusal !== undefined) return undefined;
    return `the rate limit store is unavailable: ${this.#reason}; this process continues with its share`;
  }
}
