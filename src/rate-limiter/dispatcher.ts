import { errorMessage } from "../schema/parse-options.ts";
import { Estimates } from "./estimate.ts";
import { type ExpectedWait, NewsFeed, type Permit, type PermitRequest } from "./permit-request.ts";
import { FairQueue } from "./queue.ts";
import { classOf, isOfClass, lastPriority, type PermitClass } from "./reserve.ts";
import type { Ask, PermitStore, Release, Reply } from "./store.ts";

/** A call in the queue. */
interface Waiter extends PermitClass {
  readonly level: number;
  readonly position: number;
  readonly client: object;
  readonly deadlineAt: number;
  /** Its `maxQueued` if it found so many waiting, else Infinity. */
  readonly maxQueued: number;
  /** Whether it is to know how long it waits. */
  readonly isEstimated: boolean;
  readonly news: NewsFeed;
  readonly forget: () => void;
}

/** A request with the bounds of its call or of the limiter. */
export interface BoundRequest extends PermitRequest {
  readonly reserve: number;
  readonly maxWaitMs: number;
  readonly maxQueued: number;
}

export const defaultPriority = 5;
/**
 * The levels of the queue: the calls that were refused for their rate, priorities 0 to 8, and then those of priority 9:
 * first the ones that leave no room, as they wait less. Of both the refused ones go first: they leave room too.
 */
const levels = { others: lastPriority, lastWithoutReserve: lastPriority + 2, last: lastPriority + 4 };
// Calls without a client share one position in the round robin.
const anonymous = {};
// The timer is set again at least this often: one of more than 24 days would fire at once.
const longestSleepMs = 60_000;

/** Gives the permits of a store to calls that wait in a fair queue, with the timer that wakes them. */
export class Dispatcher {
  readonly #queue = new FairQueue<Waiter>(levels.last + 1);
  readonly #store: PermitStore;
  readonly #clock: () => number;
  readonly #estimates: Estimates;
  /** Calls that do not know yet that they must wait. */
  readonly #untold = new Set<Waiter>();
  readonly #withDeadline = new Set<Waiter>();
  #positions = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isServing = false;
  /** Something has changed since the store was last asked. */
  #hasChanged = false;
  #warning: string | undefined;
  readonly #wake = (): void => this.serve();

  constructor(store: PermitStore, clock: () => number) {
    this.#store = store;
    this.#estimates = new Estimates(store);
    this.#clock = clock;
  }

  get queued(): number {
    return this.#queue.size;
  }

  /** The position in the queue of a call that is made now. */
  takePosition(): number {
    return ++this.#positions;
  }

  /** Puts a call into the queue, and serves it. */
  enqueue(request: BoundRequest): NewsFeed {
    const { client = anonymous, priority = defaultPriority, signal, isRequeued = false } = request;
    // A call that was refused for its rate, or has waited elsewhere, had its position in the queue before.
    const hadPosition = isRequeued || request.position !== undefined;
    const maxQueued = hadPosition ? Infinity : request.maxQueued;
    const { isLast, reserve } = classOf(priority, request.reserve);
    const level = levelOf({ isLast, reserve }, priority, isRequeued);
    const waiter: Waiter = {
      level,
      isLast,
      reserve,
      client,
      position: request.position ?? this.takePosition(),
      deadlineAt: this.#clock() + request.maxWaitMs,
      // Calls of a lower priority go after it.
      maxQueued: this.#queue.sizeUpTo(level) >= maxQueued ? maxQueued : Infinity,
      isEstimated: request.onWait !== undefined,
      news: new NewsFeed(),
      forget: () => signal?.removeEventListener("abort", abort),
    };
    const abort = (): void => {
      this.#leave(waiter);
      waiter.news.fail(signal?.reason);
      const { head } = this.#queue;
      // The others of its class wait as long as before.
      if (!head || !isOfClass(head, waiter)) this.serve();
    };
    signal?.addEventListener("abort", abort, { once: true });
    this.#queue.add(waiter);
    this.#untold.add(waiter);
    if (waiter.deadlineAt < Infinity) this.#withDeadline.add(waiter);
    this.serve();
    return waiter.news;
  }

  #leave(waiter: Waiter): void {
    this.#queue.remove(waiter);
    this.#untold.delete(waiter);
    this.#withDeadline.delete(waiter);
    waiter.forget();
  }

  /** Gives the calls in the queue the permits that there are. */
  serve(): void {
    this.#hasChanged = true;
    if (!this.#isServing) void this.#serveAll();
  }

  /** Asks for permits for the class of the head until there are none, and then sets a timer: at once, unless the store asks others. */
  async #serveAll(): Promise<void> {
    this.#isServing = true;
    clearTimeout(this.#timer);
    for (let head = this.#queue.head; head; head = this.#queue.head) {
      this.#hasChanged = false;
      const { isLast, reserve } = head;
      const ask = { isLast, reserve, calls: this.#queue.sizeUpTo(lastLevelOf(head)) };
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
    this.#timer = setTimeout(this.#wake, longestSleepMs);
    try {
      return await asked;
    } catch (error) {
      const refusal = `The rate limit store failed: ${errorMessage(error)}.`;
      return { permits: [], waitMs: longestSleepMs, refusal };
    } finally {
      clearTimeout(this.#timer);
    }
  }

  #sleep(waitMs: number): void {
    if (this.#queue.size === 0) return;
    const now = this.#clock();
    let wakeAt = now + Math.min(waitMs, longestSleepMs);
    for (const { deadlineAt } of this.#withDeadline) wakeAt = Math.min(wakeAt, deadlineAt);
    this.#timer = setTimeout(this.#wake, Math.max(1, Math.ceil(wakeAt - now)));
  }

  #answer(ask: Ask, { permits, waitMs, refusal, warning }: Reply): void {
    const now = this.#clock();
    const isOtherWarning = warning !== this.#warning;
    this.#warning = warning;
    for (const release of permits) {
      const head = this.#queue.head;
      // A call may have left meanwhile, or one of another class have come.
      if (head && isOfClass(head, ask)) this.#grant(head, release, now);
      else release("unsent", now);
    }
    // The others learn it with their permits.
    if (isOtherWarning) for (const { news } of this.#queue.all()) news.tell({ warning });
    if (refusal !== undefined) for (const waiter of this.#queue.all()) this.#refuse(waiter, 1, now, refusal);
    const head = this.#queue.head;
    // Of another class is one that came meanwhile: the store is asked for it next.
    if (waitMs > 0 && head && isOfClass(head, ask)) this.#letWait(waitMs, now);
  }

  #grant(waiter: Waiter, release: Release, acquiredAt: number): void {
    this.#queue.rotate(waiter);
    this.#leave(waiter);
    let isHeld = true;
    const permit: Permit = {
      release: (use) => {
        if (!isHeld) return;
        isHeld = false;
        const now = this.#clock();
        if (use === "responded") this.#estimates.addRoundTrip(now - acquiredAt);
        release(use, now);
      },
    };
    waiter.news.tell({ warning: this.#warning, permit });
  }

  /** There is no permit for so long: calls that may not wait as long leave at once, the others are told. */
  #letWait(waitMs: number, now: number): void {
    const waits = new Map<Waiter, ExpectedWait>();
    for (const waiter of this.#untold) {
      if (!waiter.isEstimated && waiter.deadlineAt === Infinity) continue;
      const position = this.#queue.sizeUpToEntry(waiter);
      const wait = this.#estimates.wait(waiter, position, now);
      if (now + wait.waitMs > waiter.deadlineAt) this.#refuse(waiter, position, now);
      else waits.set(waiter, wait);
    }
    // Only those that could wait fill the queue: of these the latest leave it.
    for (const waiter of [...this.#untold].toReversed()) {
      const waiting = this.#queue.sizeUpTo(waiter.level);
      const why = `The queue is full: \`maxQueued\` is ${waiter.maxQueued}.`;
      if (waiting > waiter.maxQueued) this.#refuse(waiter, waiting, now, why);
    }
    for (const waiter of this.#untold) {
      const wait = waits.get(waiter);
      if (wait) waiter.news.tell({ warning: this.#warning, wait });
    }
    this.#untold.clear();
    for (const waiter of this.#withDeadline)
      if (waiter.deadlineAt < now + waitMs) this.#refuse(waiter, 1, now);
  }

  #refuse(waiter: Waiter, position: number, now: number, reason?: string): void {
    this.#leave(waiter);
    waiter.news.fail(this.#estimates.error(waiter, position, now, reason));
  }

  /** The expected time until the last of `calls` more calls has its response. */
  estimateMs(calls: number, priority: number, reserve: number): number {
    const permitClass = classOf(priority, reserve);
    const position = this.#queue.sizeUpTo(levelOf(permitClass, priority, false)) + calls;
    return position === 0 ? 0 : this.#estimates.respondedInMs(permitClass, position, this.#clock());
  }
}

function levelOf(permitClass: PermitClass, priority: number, isRequeued: boolean): number {
  if (!permitClass.isLast) return isRequeued ? 0 : 1 + priority;
  return lastLevelOf(permitClass) - (isRequeued ? 1 : 0);
}

function lastLevelOf({ isLast, reserve }: PermitClass): number {
  if (!isLast) return levels.others;
  return reserve === 0 ? levels.lastWithoutReserve : levels.last;
}
