import type { RateLimitWindow, WaitFacts } from "../error-facts.ts";
import type { ExpectedWait } from "./fair-queue.ts";
import { Allowance, keptPermits } from "./reserve.ts";
import { permitsPerPace, SlidingWindowLog } from "./sliding-window-log.ts";
import type { Known, PermitStore, StoreUser } from "./store.ts";

/** The others are expected to go on as in the quietest of so many parts of the longest window: a burst does not go on. */
const parts = 6;
// An average over about the last 50 calls: steadier than any one of them, and still following the network.
const averagedCalls = 50;
/** A forecast serves for this time, unless permits change. */
const keptMs = 100;
/** A forecast also serves so many times as long as it took to compute, so that most of a turn is left to the calls. */
const keptTimes = 10;
/** In a turn with calls of both classes it also stays the same while not a fifth more goes before those of priority 9. */
const keptShare = 0.2;

/** When a call leaves, and the window for which it waits, if it waits for one. */
interface Leaving {
  readonly at: number;
  readonly window: RateLimitWindow | undefined;
}

/**
 * When the next calls leave, if each takes `roundTripMs`: the limiter's own rule on a copy of the log, in a time of its own.
 * Computed once, as far as it is asked for.
 */
class Forecast {
  /** It serves until then. */
  freshUntil: number;
  /** So many calls of priorities 0 to 8 go first, and then those of priority 9: beside them another one comes each `othersMs`. */
  readonly others: number;
  readonly #othersMs: number;
  #nextOtherAt: number | undefined;
  readonly #reserve: number;
  readonly #roundTripMs: number;
  readonly #limits: readonly number[];
  readonly #log: SlidingWindowLog;
  /** In the end so many leave in each of the longest window. */
  readonly #round: number;
  /** By the number of calls that have left. */
  readonly #leaving: Leaving[];
  #next: Leaving;

  constructor(
    { log, limits, startAt }: Known,
    others: number,
    reserve: number,
    roundTripMs: number,
    now: number,
  ) {
    this.freshUntil = now + keptMs;
    this.others = others;
    this.#reserve = reserve;
    this.#roundTripMs = roundTripMs;
    // A limit of less than one permit counts as one call at a time.
    this.#limits = limits.map((limit) => Math.max(1, limit));
    const respondsAt = now + roundTripMs / 2;
    const permits = log
      .permits(now)
      .map((permit) => ({ ...permit, respondedAt: permit.respondedAt ?? respondsAt }));
    this.#log = new SlidingWindowLog(log.windows, permits);
    const [longest, countedMs] = [this.#limits.at(-1)!, log.countedMs.at(-1)!];
    const usedIn = (some: number): number => this.#log.usedBy(false, (some * countedMs) / parts, now);
    const least = Math.min(...Array.from({ length: parts }, (_, part) => usedIn(part + 1) - usedIn(part)));
    this.#othersMs = countedMs / (parts * least);
    this.#round =
      others === Infinity ? longest : longest - keptPermits([longest], [parts * least], reserve)[0]!;
    this.#next = { at: startAt, window: undefined };
    this.#leaving = [this.#next];
  }

  /** The leaving of the call at `position` (1 is the next). */
  leaving(position: number): Leaving {
    // Far ahead the pattern repeats, and is a multiplication.
    const ofClass = this.others === Infinity ? position : position - this.others;
    const rounds = Math.max(0, Math.ceil(ofClass / this.#round) - 3);
    const computed = position - rounds * this.#round;
    while (this.#leaving.length <= computed) this.#goOn(computed + 1 - this.#leaving.length);
    const last = this.#leaving[computed]!; // just computed
    if (rounds === 0) return last;
    const roundMs = last.at - this.#leaving[computed - this.#round]!.at;
    return { at: last.at + rounds * roundMs, window: last.window };
  }

  /** The calls that may leave do so, and the next ones wait. */
  #goOn(calls: number): void {
    const { at } = this.#next;
    const others = this.others + 1 - this.#leaving.length;
    const isLast = others <= 0;
    if (isLast) this.#letOthersGoOn(at);
    const allowance = new Allowance(this.#log, this.#limits, isLast ? this.#reserve : 0, at);
    // Those of one pace leave together, however many are asked for.
    const together = isLast ? Math.max(calls, permitsPerPace) : Math.min(calls, others);
    const { waitMs, window } = allowance.takeAll(together, at, () => {
      this.#take(isLast, at);
      this.#leaving.push(this.#next);
    });
    if (waitMs > 0) this.#next = { at: at + waitMs, window };
  }

  /** Each of them leaves one permit of every window to priority 9. If they filled a window, the wait would have no end. */
  #letOthersGoOn(now: number): void {
    const limits = this.#limits.map((limit) => limit - 1);
    this.#nextOtherAt ??= now + this.#othersMs;
    for (; this.#nextOtherAt <= now; this.#nextOtherAt += this.#othersMs)
      if (Math.max(...this.#log.availableInMs(this.#nextOtherAt, limits)) === 0)
        this.#take(false, this.#nextOtherAt);
  }

  #take(isLast: boolean, at: number): void {
    const permit = this.#log.take({ isLast, id: "" }, at);
    this.#log.release(permit, "responded", at + this.#roundTripMs);
  }
}

/** Why a call gets no permit. */
export type Refusal = WaitFacts & { readonly message: string };

/** What a forecast asks of the queue. */
interface QueueState {
  /** How many calls of priorities 0 to 8 wait. */
  others(): number;
  /** Until when the store has no permit for a class, as it has said. */
  noneUntil(isLast: boolean): number;
}

/** The waits of the calls that a store is asked for, as they are expected. */
export class Forecasts {
  readonly #store: PermitStore;
  readonly #reserve: () => number;
  readonly #clock: () => number;
  readonly #queue: QueueState;
  /** By whether it is of priority 9. */
  readonly #made = new Map<boolean, Forecast>();
  #roundTripMs = 0;
  #responses = 0;

  constructor(store: PermitStore, { clock, reserve }: StoreUser, queue: QueueState) {
    this.#store = store;
    this.#clock = clock;
    this.#reserve = reserve;
    this.#queue = queue;
  }

  /** The mean time from a permit to its response. */
  get roundTripMs(): number {
    return this.#roundTripMs;
  }

  addRoundTrip(roundTripMs: number): void {
    this.#responses += 1;
    this.#roundTripMs += (roundTripMs - this.#roundTripMs) / Math.min(averagedCalls, this.#responses);
  }

  /** Permits, limits or a pause have changed. */
  changed(): void {
    this.#made.clear();
  }

  #leaving(isLast: boolean, position: number, now: number): Leaving {
    const others = isLast ? this.#queue.others() : Infinity;
    const startedAt = this.#clock();
    let made = this.#made.get(isLast);
    if (!made || now >= made.freshUntil || Math.abs(others - made.others) > keptShare * made.others) {
      made = new Forecast(this.#store.known(now), others, this.#reserve(), this.#roundTripMs, now);
      this.#made.set(isLast, made);
    }
    const leaving = made.leaving(position);
    made.freshUntil += keptTimes * (this.#clock() - startedAt);
    return leaving;
  }

  /** The time until the call at `position` (1 is the next) leaves, if those of priority 9 before it come after the others. */
  waitMs(isLast: boolean, position: number, now: number): number {
    const { at } = this.#leaving(isLast, position, now);
    return Math.max(now, at, this.#queue.noneUntil(isLast)) - now;
  }

  wait(isLast: boolean, position: number, now: number): ExpectedWait {
    const waitMs = this.waitMs(isLast, position, now);
    return { waitMs, isForOthers: isLast && waitMs > this.waitMs(false, position, now) };
  }

  /** What the error says of a call that gets no permit, by default as its wait would be too long. */
  refusal(isLast: boolean, position: number, now: number, reason?: string): Refusal {
    const expected = this.wait(isLast, position, now);
    const { window } = this.#leaving(isLast, position, now);
    const waitMs = Math.ceil(expected.waitMs);
    const forOthers = expected.isForOthers
      ? " It leaves room for other calls: see the option `reserve`."
      : "";
    const why =
      reason ??
      `The wait of ${waitMs} ms is longer than \`maxWaitMs\`, of the call or its client, or \`deadlineMs\` allows.${forOthers}`;
    return { message: `No permit. ${why}`, waitMs, retryAt: new Date(Date.now() + waitMs), window };
  }
}
