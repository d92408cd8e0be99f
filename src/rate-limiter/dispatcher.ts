import {
  defaultPriority,
  type ExpectedWait,
  FairQueue,
  levelOf,
  type Permit,
  type PermitRequest,
  type Waiter,
} from "./fair-queue.ts";
import { Forecasts, permitError, type PermitRefusal } from "./forecast.ts";
import { lastPriority } from "./reserve.ts";
import type { Release } from "./sliding-window-log.ts";
import type { Ask, PermitStore, Reply, StoreUser } from "./store.ts";

/** While calls wait, they are served at least this often: a timer of more than 24 days would fire at once. */
const longestSleepMs = 60_000;

/** The bounds of calls that have none of their own. */
type QueueBounds = Readonly<Record<"maxWaitMs" | "maxQueued", number>>;

/** Gives the permits of a store to calls that wait in a fair queue, with the timer that wakes them. */
export class Dispatcher {
  readonly queue = new FairQueue();
  readonly #store: PermitStore;
  readonly #clock: () => number;
  /** Wakes the calls that wait, and keeps the process alive meanwhile. */
  #alarm: ReturnType<typeof setTimeout> | undefined;
  /** So many calls can leave together at the most. */
  readonly #burst: number;
  readonly #bounds: QueueBounds;
  readonly forecasts: Forecasts;
  /** Calls that do not know yet that they must wait. */
  readonly #untold = new Set<Waiter>();
  #isServing = false;
  /** A change since the store was last asked may have made a permit available. */
  #mustAskAgain = false;

  constructor(store: PermitStore, user: StoreUser, bounds: QueueBounds) {
    this.#store = store;
    this.#bounds = bounds;
    this.forecasts = new Forecasts(store, user, this.queue);
    this.#clock = user.clock;
    this.#burst = Math.min(...user.log.windows.map(({ limit }) => limit));
  }

  /** Why a call is refused that finds the queue full, before anything is made for it. */
  fullQueue(priority = defaultPriority, maxQueued = this.#bounds.maxQueued): PermitRefusal | undefined {
    const isLast = priority === lastPriority;
    const level = levelOf(priority, false);
    const [queued, ahead] = [this.queue.sizeUpTo(level), this.queue.aheadUpTo(level)];
    const waiting = queued + ahead;
    // While a store is asked some of those that wait may still leave at once.
    if (waiting < (this.#isServing ? maxQueued + this.#burst : maxQueued)) return undefined;
    const now = this.#clock();
    const mayHavePermit = queued === 0 && now >= this.forecasts.noPermitUntil(isLast);
    // Calls that wait for another one alone are not held up by the rate limit.
    if (mayHavePermit && (ahead === 0 || this.forecasts.waitMs(isLast, waiting + 1, now) === 0))
      return undefined;
    return this.forecasts.refusal(isLast, waiting + 1, now, queueIsFull(maxQueued));
  }

  /** Why a call is refused that may not wait as long as the calls before it, before it waits for anything. */
  longWait(request: PermitRequest): PermitRefusal | undefined {
    const { client = this, priority = defaultPriority } = request;
    const longestMs = this.#longestWaitMs(request);
    const [isLast, now] = [priority === lastPriority, this.#clock()];
    if (longestMs === Infinity || this.#isServing || now >= this.forecasts.noPermitUntil(isLast))
      return undefined;
    const position = this.queue.nextPosition(client, levelOf(priority, false));
    const isTooLong = this.forecasts.waitMs(isLast, position, now) > longestMs;
    return isTooLong ? this.forecasts.refusal(isLast, position, now) : undefined;
  }

  #longestWaitMs({ maxWaitMs = this.#bounds.maxWaitMs, deadlineInMs = Infinity }: PermitRequest) {
    return Math.min(maxWaitMs, deadlineInMs);
  }

  /** Puts a call into the queue, and serves it. */
  enqueue(request: PermitRequest): Promise<Permit> {
    return new Promise((resolve, reject) => {
      const { priority = defaultPriority, signal, isRequeued = false, onWait } = request;
      signal?.throwIfAborted();
      // A call that was refused for its rate, or has waited elsewhere, had its position in the queue before.
      const hadPosition = isRequeued || request.position !== undefined;
      const maxQueued = hadPosition ? Infinity : (request.maxQueued ?? this.#bounds.maxQueued);
      const level = levelOf(priority, isRequeued);
      const now = this.#clock();
      let tellWait: ((wait: ExpectedWait) => void) | undefined;
      // What waits for a promise goes on in its own async context.
      if (onWait) void new Promise<ExpectedWait>((tell) => (tellWait = tell)).then(onWait);
      const waiter: Waiter = {
        level,
        isLast: priority === lastPriority,
        // Calls without a client share one position in the round robin.
        client: request.client ?? this,
        position: request.position ?? this.queue.takePosition(),
        deadlineAt: now + this.#longestWaitMs(request),
        // Calls of a lower priority do not count: they leave after it.
        maxQueued: this.queue.sizeUpTo(level) >= maxQueued ? maxQueued : Infinity,
        request,
        resolve,
        reject,
        tellWait,
        abort: () => this.#abort(waiter),
      };
      signal?.addEventListener("abort", waiter.abort);
      this.queue.add(waiter);
      this.#untold.add(waiter);
      if (this.#isServing) return;
      if (now >= this.forecasts.noPermitUntil(waiter.isLast)) return void this.#serveAll();
      this.#tellUntold(now);
      if (this.queue.size > 0) this.#setAlarm(this.forecasts.noPermit.until);
    });
  }

  #abort(waiter: Waiter): void {
    this.#leave(waiter);
    waiter.reject(waiter.request.signal?.reason);
    const { head } = this.queue;
    // Its class waits as long as before, priority 9 no longer for it; an empty queue needs no alarm.
    if (!head || (head.isLast && !waiter.isLast)) this.serve();
  }

  #leave(waiter: Waiter): void {
    this.queue.remove(waiter);
    this.#untold.delete(waiter);
    waiter.request.signal?.removeEventListener("abort", waiter.abort);
  }

  /** Permits, limits or a pause have changed: gives the calls in the queue the permits that there are. */
  serve(): void {
    this.forecasts.drop();
    this.#serve();
  }

  #serve(): void {
    this.#mustAskAgain = true;
    if (!this.#isServing) void this.#serveAll();
  }

  /** Takes permits for the head's class until the store has none, then sets the alarm; in memory at once. */
  async #serveAll(): Promise<void> {
    this.#isServing = true;
    this.forecasts.noPermit = { until: -Infinity, isLast: false };
    this.#clearAlarm();
    for (let head = this.queue.head; head; head = this.queue.head) {
      this.#mustAskAgain = false;
      const { isLast } = head;
      const ask = { isLast, calls: this.queue.sizeOfClass(isLast) };
      const asked = this.#store.take(ask, this.#clock());
      const reply = asked instanceof Promise ? await this.#whenReplied(asked) : asked;
      this.#answer(ask, reply);
      // A call of another class may have come meanwhile: the store is asked for it next.
      const isSameClass = (this.queue.head?.isLast ?? isLast) === isLast;
      if (reply.waitMs > 0 && isSameClass && !this.#mustAskAgain) {
        if (this.queue.size > 0) this.#setAlarm(this.forecasts.noPermit.until);
        break;
      }
    }
    this.#isServing = false;
  }

  /** The alarm keeps the process alive until the store has replied. */
  async #whenReplied(asked: Promise<Reply>): Promise<Reply> {
    this.#setAlarm(Infinity);
    const reply = await asked;
    this.#clearAlarm();
    return reply;
  }

  /** Every call that waits is served then: one alarm is enough. */
  #setAlarm(at: number): void {
    const sleepMs = Math.max(1, Math.ceil(Math.min(at - this.#clock(), longestSleepMs)));
    this.#alarm ??= setTimeout(() => this.#serve(), sleepMs);
  }

  #clearAlarm(): void {
    clearTimeout(this.#alarm);
    this.#alarm = undefined;
  }

  #answer(ask: Ask, { permits, waitMs, refusal }: Reply): void {
    const now = this.#clock();
    if (permits.length > 0) this.forecasts.drop();
    for (const release of permits) {
      const head = this.queue.head;
      // A call may have left meanwhile, or one of another class have come.
      if (head?.isLast === ask.isLast) this.#grant(head, release, now);
      else release("unsent", now);
    }
    if (refusal !== undefined) for (const waiter of this.queue.all()) this.#refuse(waiter, now, refusal);
    if (waitMs > 0 && !this.#mustAskAgain)
      this.forecasts.noPermit = { until: now + waitMs, isLast: ask.isLast };
    if (waitMs === 0 || this.queue.head?.isLast !== ask.isLast) return;
    this.#tellUntold(now);
    for (const waiter of this.queue.all()) if (waiter.deadlineAt < now + waitMs) this.#refuse(waiter, now);
  }

  #grant(waiter: Waiter, release: Release, acquiredAt: number): void {
    this.queue.rotate(waiter);
    this.#leave(waiter);
    let isReleased = false;
    waiter.resolve({
      release: (use) => {
        if (isReleased) return;
        isReleased = true;
        const now = this.#clock();
        if (use === "responded") this.forecasts.addRoundTrip(now - acquiredAt);
        this.forecasts.drop();
        release(use, now);
      },
    });
  }

  /** There is no permit yet: calls that may not wait as long leave the queue, the others are told. */
  #tellUntold(now: number): void {
    for (const waiter of this.#untold) {
      if (waiter.deadlineAt === Infinity) continue;
      const waitMs = this.forecasts.waitMs(waiter.isLast, this.queue.positionOf(waiter), now);
      if (now + waitMs > waiter.deadlineAt) this.#refuse(waiter, now);
    }
    // Only calls that could wait fill the queue: of these the latest leave it.
    for (const waiter of [...this.#untold].toReversed()) {
      if (this.queue.sizeUpTo(waiter.level) > waiter.maxQueued)
        this.#refuse(waiter, now, queueIsFull(waiter.maxQueued));
    }
    for (const waiter of this.#untold)
      waiter.tellWait?.(this.forecasts.expectedWait(waiter.isLast, this.queue.positionOf(waiter), now));
    this.#untold.clear();
  }

  #refuse(waiter: Waiter, now: number, reason?: string): void {
    const position = this.queue.positionOf(waiter);
    const refusal = this.forecasts.refusal(waiter.isLast, position, now, reason);
    this.#leave(waiter);
    waiter.reject(permitError(refusal));
  }

  /** Takes all calls out of the queue, in their order. */
  leaveAll(): Waiter[] {
    this.#clearAlarm();
    return this.queue.all().map((waiter) => (this.#leave(waiter), waiter));
  }
}

function queueIsFull(maxQueued: number): string {
  return `The queue is full: \`maxQueued\` is ${maxQueued}.`;
}
