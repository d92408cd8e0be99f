import type { Permit } from "../rate-limiter/permit.ts";
import type { AbsenceObserver } from "../rate-limiter/store.ts";
import type { AwayCount } from "./away-count.ts";
import { inBackground } from "./background-timer.ts";
import { answersWithinMs, heartbeatMs, settleInMs, type PlaceStore } from "./place-store.ts";
import type { StoreGrants } from "./store-grants.ts";
import type { StoreReports } from "./store-reports.ts";

interface StoreAbsenceOptions {
  readonly store: PlaceStore;
  readonly grants: StoreGrants;
  readonly reports: StoreReports;
  readonly clock: () => number;
  /** The store is back and settles in; `leftToOthers` is what other processes can have taken meanwhile. */
  readonly onReturn: (leftToOthers: readonly number[]) => void;
}

// While the store is away it is tried again this often.
const tryAgainMs = 1_000;
// This long after the first all others are back too: a try that hangs, the time to the next, and its way (D51).
const othersComeBackWithinMs = answersWithinMs + tryAgainMs + 500;

/** What holds while a store is away: this process's own count, what its clients are told, and the way back. */
export class StoreAbsence {
  readonly #options: StoreAbsenceOptions;
  /** Who has calls that wait, and how many. */
  readonly #waiting = new Map<AbsenceObserver, number>();
  #count: AwayCount | undefined;
  #because = "";
  #since = 0;
  #backAt = -Infinity;
  #willTryAgain = false;

  constructor(options: StoreAbsenceOptions) {
    this.#options = options;
  }

  /** The count of this process alone; undefined while the store is there. */
  get count(): AwayCount | undefined {
    return this.#count;
  }

  /** Why nobody gets a place, where that is so. */
  refusal(): string | undefined {
    if (!this.#count) return undefined;
    const isAway = `The store of the rate limit is away: ${this.#because}.`;
    if (this.#options.store.onUnavailable === "reject") return isAway;
    return this.#count.isTooSmall ? `${isAway} \`localShare\` of a limit is no place.` : undefined;
  }

  /** Tells whose call it is how things stand, and as long as the call waits each time that it changes. */
  tell(observer: AbsenceObserver, place: Permit | Promise<Permit>): void {
    observer.limitsAlone(this.#words());
    if (!(place instanceof Promise)) return;
    const add = (calls: number): void => {
      const waiting = (this.#waiting.get(observer) ?? 0) + calls;
      if (waiting > 0) this.#waiting.set(observer, waiting);
      else this.#waiting.delete(observer);
    };
    const leave = (): void => add(-1);
    add(1);
    place.then(leave, leave);
  }

  /** The store was found away, once more where it is so already. */
  begin(reason: unknown, count: () => AwayCount): void {
    this.#because = reason instanceof Error ? reason.message : "it does not say why";
    if (!this.#count) {
      this.#options.reports.hold();
      this.#options.grants.hold();
      this.#since = this.#options.clock();
      this.#count = count();
      this.#tellAll();
    }
    this.#tryAgain();
  }

  #tryAgain(): void {
    if (this.#willTryAgain) return;
    this.#willTryAgain = true;
    inBackground(tryAgainMs, () => {
      this.#willTryAgain = false;
      if (this.#options.reports.isUnderWay) this.#tryAgain();
      else void this.#comeBack();
    });
  }

  async #comeBack(): Promise<void> {
    const { reports, grants, clock, onReturn } = this.#options;
    const count = this.#count;
    if (!count || !(await reports.areHeard())) return;
    // A moment's silence in which nothing was sent is no absence: others need not wait for it.
    const isReturning = count.taken > 0 || clock() - this.#since > 2 * heartbeatMs;
    // Back for a moment, while others may have missed it and have gone on alone since before.
    const wasBackInVain = this.#since < this.#backAt + settleInMs;
    await reports.comeBack(isReturning, () => {
      const now = clock();
      if (isReturning) onReturn(count.leftToOthers(now));
      this.#count = undefined;
      grants.comeBack(isReturning || wasBackInVain ? now + othersComeBackWithinMs : now);
      this.#backAt = now;
      this.#tellAll();
    });
  }

  #tellAll(): void {
    for (const observer of this.#waiting.keys()) observer.limitsAlone(this.#words());
  }

  /** While this process goes on without the store: that, and why. */
  #words(): string | undefined {
    if (!this.#count || this.refusal() !== undefined) return undefined;
    return `the store of the rate limit is away: ${this.#because}; this process goes on with its share`;
  }
}
