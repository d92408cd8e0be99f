import { firstIndex } from "../values/binary-search.ts";
import { lastPriority } from "./reserve.ts";
import type { PermitUse } from "./sliding-window-log.ts";

/** The right to send one request. */
export interface Permit {
  /** Gives the permit back. The first call counts; the others then do nothing. */
  release(use: PermitUse): void;
}

/** The request of one call for its permit. */
export interface PermitRequest {
  /** 0 goes first, 9 last; default 5. */
  readonly priority?: number | undefined;
  /** Clients are served by round robin; the same object is the same client. */
  readonly client?: object | undefined;
  /** Aborted while the call waits: it rejects at once with the signal's reason, and costs nothing. */
  readonly signal?: AbortSignal | undefined;
  readonly maxWaitMs?: number | undefined;
  /** The time until the call's deadline, in milliseconds: it also limits the wait. */
  readonly deadlineInMs?: number | undefined;
  readonly maxQueued?: number | undefined;
  /** From `takePosition`, if the call has waited for another one since: it goes before all that came after it. */
  readonly position?: number | undefined;
  /** A call that was refused for its rate goes first when the pause ends: of all, or of those of priority 9. */
  readonly isRequeued?: boolean | undefined;
  /** Called once, when the call must wait, in its own async context. */
  readonly onWait?: ((wait: ExpectedWait) => void) | undefined;
}

/** A wait for a permit, as it is expected when it begins. */
export interface ExpectedWait {
  readonly waitMs: number;
  /** The call is of priority 9, and waits longer than another would: it leaves room for these. */
  readonly isForOthers: boolean;
}

export interface Waiter {
  readonly level: number;
  /** The waiting call is of priority 9. */
  readonly isLast: boolean;
  /** Of two calls of a client at a level, the one with the lower position goes first. */
  readonly position: number;
  readonly client: object;
  readonly deadlineAt: number;
  /** The call's `maxQueued` if it found so many in the queue, else Infinity. */
  readonly maxQueued: number;
  readonly request: PermitRequest;
  /** The call gets its permit, or none. */
  readonly resolve: (permit: Permit | Promise<Permit>) => void;
  readonly reject: (reason: unknown) => void;
  /** Tells the expected wait to the call, if it wants to know. */
  readonly tellWait: ((wait: ExpectedWait) => void) | undefined;
  /** Listens to the call's signal. */
  readonly abort: () => void;
}

/** The last levels of a class: the calls that were refused for their rate, priorities 0 to 8; then the refused ones of 9, and 9. */
const lastLevels = { others: lastPriority, last: lastPriority + 2 };

export const defaultPriority = 5;

export function levelOf(priority: number, isRequeued: boolean): number {
  if (priority !== lastPriority) return isRequeued ? 0 : 1 + priority;
  return lastLevels.last - (isRequeued ? 1 : 0);
}

/** The calls that wait: the lowest level first, in it the clients by round robin, of each client the lowest position first. */
export class FairQueue {
  /** The clients that wait at each level, the next one first: a Map keeps the order of insertion. */
  readonly #levels = Array.from({ length: lastLevels.last + 1 }, () => new Map<object, Waiter[]>());
  /** Counted as calls come and go, because thousands of clients may wait. */
  readonly #levelSizes = this.#levels.map(() => 0);

  /** The calls of each level that have a position, and wait for another call before they ask for a permit. */
  readonly #aheadSizes = this.#levels.map(() => 0);
  #lastPosition = 0;

  /** The position in the queue of a call that is made now. */
  takePosition(): number {
    return ++this.#lastPosition;
  }

  /** A call of this priority waits for another call first: it counts as waiting until the returned function is called. */
  callAhead(priority = defaultPriority): () => void {
    const level = levelOf(priority, false);
    this.#aheadSizes[level]! += 1;
    return () => void (this.#aheadSizes[level]! -= 1);
  }

  get size(): number {
    return this.sizeUpTo(lastLevels.last);
  }

  /** The number of calls in the queue up to the end of a class: priority 9 goes after the others. */
  sizeOfClass(isLast: boolean): number {
    return this.sizeUpTo(isLast ? lastLevels.last : lastLevels.others);
  }

  all(): Waiter[] {
    return this.#levels.flatMap((level) => [...level.values()].flat());
  }

  add(waiter: Waiter): void {
    const level = this.#level(waiter);
    const queue = level.get(waiter.client) ?? [];
    queue.splice(indexOf(queue, waiter), 0, waiter);
    level.set(waiter.client, queue);
    this.#levelSizes[waiter.level]! += 1;
  }

  remove(waiter: Waiter): void {
    const level = this.#level(waiter);
    const queue = level.get(waiter.client)!; // it waits there
    queue.splice(indexOf(queue, waiter), 1);
    if (queue.length === 0) level.delete(waiter.client);
    this.#levelSizes[waiter.level]! -= 1;
  }

  get head(): Waiter | undefined {
    for (const level of this.#levels) for (const [head] of level.values()) return head;
    return undefined;
  }

  /** A call has its turn: its client goes to the end of its level. */
  rotate(waiter: Waiter): void {
    const level = this.#level(waiter);
    const queue = level.get(waiter.client)!; // it waits there
    level.delete(waiter.client);
    level.set(waiter.client, queue);
  }

  /** The number of calls at a level and those before it. */
  sizeUpTo(level: number): number {
    return sumUpTo(this.#levelSizes, level);
  }

  /** The number of calls of `callAhead` at a level and those before it. */
  aheadUpTo(level: number): number {
    return sumUpTo(this.#aheadSizes, level);
  }

  /** The number of calls up to this one. */
  positionOf(waiter: Waiter): number {
    const queue = this.#level(waiter).get(waiter.client)!; // it waits there
    return this.#sizeUpToTurn(waiter.level, indexOf(queue, waiter) + 1);
  }

  /** The position of a call that the client would add. */
  nextPosition(client: object, level: number): number {
    const length = this.#levels[level]!.get(client)?.length ?? 0; // as in `#level`
    return this.#sizeUpToTurn(level, length + 1) + 1;
  }

  /** The number of calls up to a client's turn at a level: it takes turns with the others, so each has at most as many. */
  #sizeUpToTurn(level: number, turn: number): number {
    let sum = this.sizeUpTo(level - 1);
    for (const { length } of this.#levels[level]!.values()) sum += Math.min(length, turn);
    return sum;
  }

  #level({ level }: Waiter): Map<object, Waiter[]> {
    return this.#levels[level]!; // priorities are checked where a call names one
  }
}

function sumUpTo(sizes: readonly number[], level: number): number {
  let sum = 0;
  for (let at = 0; at <= level; at += 1) sum += sizes[at]!;
  return sum;
}

/** The index of a call among those of its client, which are in the order of their positions. */
function indexOf(queue: readonly Waiter[], { position }: Waiter): number {
  return firstIndex(queue, (waiter) => waiter.position < position);
}
