import { RateLimitWaitError } from "../errors.ts";
import { errorMessage } from "../values/error-message.ts";
import { FairQueue, levelOf, type Waiter } from "./fair-queue.ts";
import { Forecasts, type Refusal } from "./forecast.ts";
import type { Bounds } from "./limiter-options.ts";
import { Deferred, type ExpectedWait, type Permit, type PermitRequest } from "./permit-request.ts";
import { lastPriority } from "./reserve.ts";
import type { Ask, PermitStore, Release, Reply, StoreUser } from "./store.ts";

export const defaultPriority = 5;
// The timer is set again at least this often: one of more than 24 days would fire at once.
const longestSleepMs = 60_000;

/** Gives the permits of a store to calls that wait in a fair queue, with the timer that wakes them. */
export class Dispatcher {
  readonly #queue = new FairQueue();
  readonly #store: PermitStore;
  readonly #clock: () => number;
  /** So many calls can leave together at the most. */
  readonly #burst: number;
  readonly #bounds: Bounds;
  readonly #forecasts: Forecasts;
  /** Calls that do not know yet that they must wait. */
  readonly #untold = new Set<Waiter>();
  readonly #withDeadline = new Set<Waiter>();
  /** Until when there is no permit, unless something changes: by whether it is of priority 9. */
  readonly #noneUntil = new Map<boolean, number>();
  #positions = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isServing = false;
  /** No call in the queue can leave before, unless something changes. */
  #sleepsUntil = -Infinity;
  /** Something has changed since the store was last asked. */
  #hasChanged = false;
  #warning: string | undefined;

  /** `bounds` are those of calls that have none. */
  constructor(store: PermitStore, { clock, reserve, windows }: StoreUser, bounds: Bounds) {
    this.#store = store;
    this.#bounds = bounds;
    this.#forecasts = new Forecasts(store, reserve);
    this.#clock = clock;
    this.#burst = Math.min(...windows.map(({ limit }) => limit));
  }

  get queued(): number {
    return this.#queue.size;
  }

  /** The position in the queue of a call that is made now. */
  takePosition(): number {
    return ++this.#positions;
  }

  /** Why a call is refused that finds the queue full, before anything is made for it. */
  fullQueue(priority: number, maxQueued = this.#bounds.maxQueued ?? Infinity): Refusal | undefined {
    const isLast = priority === lastPriority;
    const waiting = this.#queue.sizeUpTo(levelOf(priority, false));
    // While a store is asked some of those that wait may still leave at once.
    if (waiting < (this.#isServing ? maxQueued + this.#burst : maxQueued)) return undefined;
    const now = this.#clock();
    if (waiting === 0 && now >= (this.#noneUntil.get(isLast) ?? -Infinity)) return undefined;
    return this.#forecasts.refusal(isLast, waiting + 1, now, isFull(maxQueued));
  }

  /** Puts a call into the queue, and serves it. */
  enqueue(request: PermitRequest): Promise<Permit> {
    // Calls without a client share one position in the round robin.
    const { client = this, priority = defaultPriority, signal, isRequeued = false, onWait } = request;
    // A call that was refused for its rate, or has waited elsewhere, had its position in the queue before.
    const hadPosition = isRequeued || request.position !== undefined;
    const maxQueued = hadPosition ? Infinity : (request.maxQueued ?? this.#bounds.maxQueued ?? Infinity);
    const maxWaitMs = request.maxWaitMs ?? this.#bounds.maxWaitMs ?? Infinity;
    const level = levelOf(priority, isRequeued);
    const permit = new Deferred<Permit>();
    const firstWait = onWait && new Deferred<ExpectedWait>();
    void firstWait?.promise.then(onWait);
    const waiter: Waiter = {
      level,
      isLast: priority === lastPriority,
      client,
      position: request.position ?? this.takePosition(),
      deadlineAt: this.#clock() + Math.min(maxWaitMs, request.deadlineInMs ?? Infinity),
      // Calls of a lower priority go after it.
      maxQueued: this.#queue.sizeUpTo(level) >= maxQueued ? maxQueued : Infinity,
      request,
      permit,
      tellWait: firstWait?.resolve,
      forget: () => signal?.removeEventListener("abort", abort),
    };
    const abort = (): void => {
      this.#leave(waiter);
      permit.reject(signal?.reason);
      // The others of its class wait as long as before.
      if (this.#queue.head?.isLast !== waiter.isLast) this.serve();
    };
    signal?.addEventListener("abort", abort, { once: true });
    this.#queue.add(waiter);
    this.#untold.add(waiter);
    if (waiter.deadlineAt < Infinity) this.#withDeadline.add(waiter);
    // Behind a call that waits the store need not be asked.
    if (this.#clock() < this.#sleepsUntil && this.#queue.head !== waiter) this.#tellUntold(this.#clock());
    else this.#serve();
    return permit.promise;
  }

  #leave(waiter: Waiter): void {
    this.#queue.remove(waiter);
    this.#untold.delete(waiter);
    this.#withDeadline.delete(waiter);
    waiter.forget();
  }

  /** Something has changed: gives the calls in the queue the permits that there are. */
  serve(): void {
    this.#forecasts.changed();
    this.#noneUntil.clear();
    this.#serve();
  }

  #serve(): void {
    this.#hasChanged = true;
    if (!this.#isServing) void this.#serveAll();
  }

  /** Asks for permits for the class of the head until there are none, and then sets a timer: at once, unless the store asks others. */
  async #serveAll(): Promise<void> {
    this.#isServing = true;
    this.#sleepsUntil = -Infinity;
    clearTimeout(this.#timer);
    for (let head = this.#queue.head; head; head = this.#queue.head) {
      this.#hasChanged = false;
      const { isLast } = head;
      const ask = { isLast, calls: this.#queue.sizeOfClass(isLast) };
      const asked = this.#store.take(ask, this.#clock());
      const reply = asked instanceof Promise ? await this.#whenReplied(asked) : asked;
      this.#answer(ask, reply);
      if (reply.waitMs > 0 && !this.#hasChanged) {
        this.#sleep(reply.waitMs);
        break;
      }
    }
    this.#isServing = false;
  }

  /** A timer keeps the process alive meanwhile. */
  async #whenReplied(asked: Promise<Reply>): Promise<Reply> {
    this.#timer = setTimeout(() => this.#serve(), longestSleepMs);
    const reply = await asked.catch((error: unknown) => {
      const refusal = `The rate limit store failed: ${errorMessage(error)}.`;
      return { permits: [], waitMs: longestSleepMs, refusal };
    });
    clearTimeout(this.#timer);
    return reply;
  }

  #sleep(waitMs: number): void {
    if (this.#queue.size === 0) return;
    const sleepMs = Math.max(1, Math.ceil(Math.min(waitMs, longestSleepMs)));
    this.#sleepsUntil = this.#clock() + sleepMs;
    this.#timer = setTimeout(() => this.#serve(), sleepMs);
  }

  #answer(ask: Ask, { permits, waitMs, refusal, warning }: Reply): void {
    const now = this.#clock();
    const isOtherWarning = warning !== this.#warning;
    this.#warning = warning;
    if (permits.length > 0) this.#forecasts.changed();
    for (const release of permits) {
      const head = this.#queue.head;
      // A call may have left meanwhile, or one of another class have come.
      if (head?.isLast === ask.isLast) this.#grant(head, release, now);
      else release("unsent", now);
    }
    // The others learn it with their permits.
    if (isOtherWarning) for (const { request } of this.#queue.all()) request.observer?.storeWarning(warning);
    if (refusal !== undefined) for (const waiter of this.#queue.all()) this.#refuse(waiter, 1, now, refusal);
    if (waitMs === 0) return;
    this.#noneUntil.set(ask.isLast, now + waitMs);
    // Of another class is one that came meanwhile: the store is asked for it next.
    if (this.#queue.head?.isLast !== ask.isLast) return;
    this.#tellUntold(now);
    for (const waiter of this.#withDeadline)
      if (waiter.deadlineAt < now + waitMs) this.#refuse(waiter, 1, now);
  }

  #grant(waiter: Waiter, release: Release, acquiredAt: number): void {
    this.#queue.rotate(waiter);
    this.#leave(waiter);
    let isReleased = false;
    waiter.request.observer?.storeWarning(this.#warning);
    waiter.permit.resolve({
      release: (use) => {
        if (isReleased) return;
        isReleased = true;
        const now = this.#clock();
        if (use === "responded") this.#forecasts.addRoundTrip(now - acquiredAt);
        this.#forecasts.changed();
        release(use, now);
      },
    });
  }

  /** There is no permit for them yet: calls that may not wait as long leave at once, the others are told. */
  #tellUntold(now: number): void {
    for (const waiter of this.#untold) {
      if (waiter.deadlineAt === Infinity) continue;
      const position = this.#queue.positionOf(waiter);
      const { waitMs } = this.#forecasts.wait(waiter.isLast, position, now);
      if (now + waitMs > waiter.deadlineAt) this.#refuse(waiter, position, now);
    }
    // Only those that could wait fill the queue: of these the latest leave it.
    for (const waiter of [...this.#untold].toReversed()) {
      const waiting = this.#queue.sizeUpTo(waiter.level);
      if (waiting > waiter.maxQueued) this.#refuse(waiter, waiting, now, isFull(waiter.maxQueued));
    }
    for (const waiter of this.#untold) {
      if (!waiter.tellWait) continue;
      waiter.request.observer?.storeWarning(this.#warning);
      waiter.tellWait(this.#forecasts.wait(waiter.isLast, this.#queue.positionOf(waiter), now));
    }
    this.#untold.clear();
  }

  #refuse(waiter: Waiter, position: number, now: number, reason?: string): void {
    this.#leave(waiter);
    const refusal = this.#forecasts.refusal(waiter.isLast, position, now, reason);
    waiter.permit.reject(new RateLimitWaitError(refusal));
  }

  /** Takes all calls out of the queue, in their order. */
  leaveAll(): Waiter[] {
    clearTimeout(this.#timer);
    return this.#queue.all().map((waiter) => (this.#leave(waiter), waiter));
  }

  /** The expected time until the last of `calls` more calls has its response. */
  estimateMs(calls: number, priority: number): number {
    const position = this.#queue.sizeUpTo(levelOf(priority, false)) + calls;
    const isLast = priority === lastPriority;
    return position === 0 ? 0 : this.#forecasts.respondedInMs(isLast, position, this.#clock());
  }
}

function isFull(maxQueued: number): string {
  return `The queue is full: \`maxQueued\` is ${maxQueued}.`;
}
