import type { RateLimitWindow, WaitFacts } from "../error-facts.ts";
import { RateLimitWaitError } from "../errors.ts";
import { type ExpectedWait, type FairQueue, levelOf } from "./fair-queue.ts";
import { Allowance, keptPermits, lastPriority } from "./reserve.ts";
import { permitsPerPace, SlidingWindowLog } from "./sliding-window-log.ts";
import type { Known, PermitStore, StoreUser } from "./store.ts";

/** The others go on as in the quietest of so many slots of the longest window: a burst does not go on. */
const slots = 6;
// Round trips are averaged over about 50 calls: steadier than any of them, and still following the network.
const averagedCalls = 50;
/** A forecast serves for this time, unless permits change. */
const freshMs = 100;
/** A forecast also serves so many times as long as it took to compute, so that most of a turn is left to the calls. */
const freshTimes = 10;
/** With calls of both classes a forecast also serves while not a fifth more goes before priority 9. */
const freshShare = 0.2;

/** When a call leaves the queue, and the window for which it waits, if it waits for one. */
interface Departure {
  readonly at: number;
  readonly limitingWindow: RateLimitWindow | undefined;
}

/**
 * When the next calls leave, if each takes `roundTripMs`: the limiter's own rule on a copy of the log, in a time of its own.
 * A forecast is computed once, as far as it is asked for.
 */
class Forecast {
  /** The forecast serves until then. */
  freshUntil: number;
  /** So many calls of priorities 0 to 8 go first, and then those of priority 9: beside them another one comes each `othersMs`. */
  readonly others: number;
  readonly #othersMs: number;
  #nextOtherAt: number | undefined;
  readonly #reserve: number;
  readonly #roundTripMs: number;
  readonly #limits: readonly number[];
  readonly #log: SlidingWindowLog;
  /** Far ahead so many calls leave in each of the longest window. */
  readonly #callsPerRound: number;
  /** The departures by the number of calls that have left. */
  readonly #departures: Departure[];
  #nextDeparture: Departure;

  constructor(
    { log, limits, startAt }: Known,
    others: number,
    reserve: number,
    roundTripMs: number,
    now: number,
  ) {
    this.freshUntil = now + freshMs;
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
    const usedIn = (count: number): number => this.#log.usedBy(false, (count * countedMs) / slots, now);
    const least = Math.min(...Array.from({ length: slots }, (_, slot) => usedIn(slot + 1) - usedIn(slot)));
    this.#othersMs = countedMs / (slots * least);
    this.#callsPerRound =
      others === Infinity ? longest : longest - keptPermits(longest, slots * least, reserve);
    this.#nextDeparture = { at: startAt, limitingWindow: undefined };
    this.#departures = [this.#nextDeparture];
  }

  /** The departure of the call at `position` (1 is the next). */
  departure(position: number): Departure {
    // Far ahead the pattern repeats, and is a multiplication.
    const ofClass = this.others === Infinity ? position : position - this.others;
    const rounds = Math.max(0, Math.ceil(ofClass / this.#callsPerRound) - 3);
    const computed = position - rounds * this.#callsPerRound;
    while (this.#departures.length <= computed) this.#goOn(computed + 1 - this.#departures.length);
    const departure = this.#departures[computed]!; // just computed
    if (rounds === 0) return departure;
    const roundMs = departure.at - this.#departures[computed - this.#callsPerRound]!.at;
    return { at: departure.at + rounds * roundMs, limitingWindow: departure.limitingWindow };
  }

  /** The forecast goes on: the calls that may leave do so, and the next ones wait. */
  #goOn(calls: number): void {
    const { at } = this.#nextDeparture;
    const othersLeft = this.others + 1 - this.#departures.length;
    const isLast = othersLeft <= 0;
    if (isLast) this.#letOthersGoOn(at);
    const allowance = new Allowance(this.#log, this.#limits, isLast ? this.#reserve : 0, at);
    // The calls of one pace leave together, however many the forecast is asked for.
    const together = isLast ? Math.max(calls, permitsPerPace) : Math.min(calls, othersLeft);
    const { waitMs, limitingWindow } = allowance.takeAll(together, at, () => {
      this.#take(isLast, at);
      this.#departures.push(this.#nextDeparture);
    });
    if (waitMs > 0) this.#nextDeparture = { at: at + waitMs, limitingWindow };
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

/** Why a call gets no permit: the facts and the message of its `RateLimitWaitError`. */
export type PermitRefusal = WaitFacts & { readonly message: string };

/** The error of a call that is refused its permit: without a stack of its own, which would be half of its cost (D182). */
export function permitError(refusal: PermitRefusal): RateLimitWaitError {
  const { stackTraceLimit } = Error;
  Reflect.set(Error, "stackTraceLimit", 0);
  try {
    return new RateLimitWaitError(refusal);
  } finally {
    Reflect.set(Error, "stackTraceLimit", stackTraceLimit);
  }
}

/** The waits of the calls that a store is asked for, as they are expected. */
export class Forecasts {
  /** Until when the store has no permit, as it has said, if nothing changes: for calls of priority 9 alone, or for all. */
  noPermit = { until: -Infinity, isLast: false };
  /** The mean time from a permit to its response. */
  roundTripMs = 0;
  readonly #store: PermitStore;
  readonly #user: StoreUser;
  readonly #queue: FairQueue;
  /** The forecast for priority 9 (true), and that for the others. */
  readonly #byClass = new Map<boolean, Forecast>();
  #responses = 0;

  constructor(store: PermitStore, user: StoreUser, queue: FairQueue) {
    this.#store = store;
    this.#user = user;
    this.#queue = queue;
  }

  /** Calls of priority 9 wait for what the others wait for. */
  noPermitUntil(isLast: boolean): number {
    return isLast || !this.noPermit.isLast ? this.noPermit.until : -Infinity;
  }

  addRoundTrip(roundTripMs: number): void {
    this.#responses += 1;
    this.roundTripMs += (roundTripMs - this.roundTripMs) / Math.min(averagedCalls, this.#responses);
  }

  /** Drops the forecasts: permits, limits or a pause have changed. */
  drop(): void {
    this.#byClass.clear();
  }

  #departure(isLast: boolean, position: number, now: number): Departure {
    const { clock, reserve } = this.#user;
    const others = isLast ? this.#queue.sizeOfClass(false) : Infinity;
    const startedAt = clock();
    let made = this.#byClass.get(isLast);
    if (!made || now >= made.freshUntil || Math.abs(others - made.others) > freshShare * made.others) {
      made = new Forecast(this.#store.known(now), others, reserve(), this.roundTripMs, now);
      this.#byClass.set(isLast, made);
    }
    const departure = made.departure(position);
    made.freshUntil += freshTimes * (clock() - startedAt);
    return departure;
  }

  /** The time until the call at `position` (1 is the next) leaves, if those of priority 9 before it come after the others. */
  waitMs(isLast: boolean, position: number, now: number): number {
    const { at } = this.#departure(isLast, position, now);
    return Math.max(now, at, this.noPermitUntil(isLast)) - now;
  }

  expectedWait(isLast: boolean, position: number, now: number): ExpectedWait {
    const waitMs = this.waitMs(isLast, position, now);
    return { waitMs, isForOthers: isLast && waitMs > this.waitMs(false, position, now) };
  }

  /** The expected time until the last of `calls` more calls has its response. */
  estimateMs(calls: number, priority: number): number {
    const position = this.#queue.sizeUpTo(levelOf(priority, false)) + calls;
    if (position === 0) return 0;
    return this.waitMs(priority === lastPriority, position, this.#user.clock()) + this.roundTripMs;
  }

  /** Refuses a call its permit, with its expected wait: by default because that is too long. */
  refusal(isLast: boolean, position: number, now: number, reason?: string): PermitRefusal {
    const expected = this.expectedWait(isLast, position, now);
    const { limitingWindow: window } = this.#departure(isLast, position, now);
    const waitMs = Math.ceil(expected.waitMs);
    const forOthers = expected.isForOthers
      ? " It leaves room for other calls: see the option `reserve`."
      : "";
    const why =
      reason ??
      `The wait of ${waitMs} ms is longer than \`maxWaitMs\` or \`deadlineMs\` allows (a call's, or its client's).${forOthers}`;
    return { message: `No permit. ${why}`, waitMs, retryAt: new Date(Date.now() + waitMs), window };
  }
}
