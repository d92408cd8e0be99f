import type { Permit } from "../rate-limiter/permit.ts";
import type { AbsenceObserver } from "../rate-limiter/store.ts";
import { inBackground } from "./background-timer.ts";
import type { LocalFallback } from "./local-fallback.ts";
import { heartbeatMs, recoveryMs, repliesWithinMs, tryAgainMs } from "./permit-scripts.ts";
import type { PermitWriter } from "./permit-writer.ts";

// This long after the first all others are back too: a try that hangs, the time to the next, and its way (D51).
const othersComeBackWithinMs = repliesWithinMs + tryAgainMs + 500;

interface UnavailabilityOptions {
  readonly onUnavailable: "local" | "reject";
  readonly clock: () => number;
  readonly writer: PermitWriter;
  /** Redis is there again, and recovers where `isReturning`; it is asked from `askFrom` on. */
  readonly onReturn: (fallback: LocalFallback, how: { isReturning: boolean; askFrom: number }) => void;
}

/** While Redis is unavailable: the count of this process alone, why that is so, who is told of it, and the way back. */
export class Unavailability {
  readonly #options: UnavailabilityOptions;
  /** Who has calls that wait, and how many. */
  readonly #waiting = new Map<AbsenceObserver, number>();
  #fallback: LocalFallback | undefined;
  #because = "";
  #since = 0;
  #backAt = -Infinity;
  #willTryAgain = false;

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
    const isAway = `The store of the rate limit is away: ${this.#because}.`;
    if (this.#options.onUnavailable === "reject") return isAway;
    return this.#fallback.isTooSmall ? `${isAway} \`localShare\` of a limit is no permit.` : undefined;
  }

  /** Redis was found unavailable, once more where it is so already; it is tried again soon. */
  begin(reason: unknown, fallback: () => LocalFallback): void {
    this.#because = reason instanceof Error ? reason.message : "it does not say why";
    if (!this.#fallback) {
      this.#since = this.#options.clock();
      this.#fallback = fallback();
      this.#notify();
    }
    if (this.#willTryAgain) return;
    this.#willTryAgain = true;
    inBackground(tryAgainMs, () => {
      this.#willTryAgain = false;
      void this.#comeBack();
    });
  }

  /** Tells whose call it is how things stand, and as long as the call waits each time that it changes. */
  observe(observer: AbsenceObserver, permit: Permit | Promise<Permit>): void {
    observer.limitsAlone(this.#words());
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

  async #comeBack(): Promise<void> {
    const { clock, writer, onReturn } = this.#options;
    if (!(await writer.isHeard())) return;
    const fallback = this.#fallback!; // it ends here alone
    // A moment's silence in which nothing was sent is no absence: others need not wait for it.
    const isReturning = fallback.acquired > 0 || clock() - this.#since > 2 * heartbeatMs;
    // Back for a moment, while others may have missed it and have gone on alone since before.
    const wasBackInVain = this.#since < this.#backAt + recoveryMs;
    const onWritten = (): void => {
      const now = clock();
      const othersMs = isReturning || wasBackInVain ? othersComeBackWithinMs : 0;
      this.#fallback = undefined;
      this.#backAt = now;
      onReturn(fallback, { isReturning, askFrom: now + othersMs });
      this.#notify();
    };
    await writer.writeAllBack({ isReturning, onWritten });
  }

  #notify(): void {
    for (const observer of this.#waiting.keys()) observer.limitsAlone(this.#words());
  }

  /** While this process goes on without Redis: that, and why. */
  #words(): string | undefined {
    if (!this.#fallback || this.refusal !== undefined) return undefined;
    return `the store of the rate limit is away: ${this.#because}; this process goes on with its share`;
  }
}
