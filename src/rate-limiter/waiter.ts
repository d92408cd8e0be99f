import type { Deferred, ExpectedWait, Permit, PermitRequest } from "./permit-request.ts";
import { lastPriority } from "./reserve.ts";

/**
 * A call in the queue. It reads its permit and its wait by promises, so that what it does with them, a line of a log or a
 * hook, runs in its own async context and not in that of the call by which the queue was served.
 */
export interface Waiter {
  readonly level: number;
  /** It is of priority 9. */
  readonly isLast: boolean;
  readonly position: number;
  readonly client: object;
  readonly deadlineAt: number;
  /** Its `maxQueued` if it found so many waiting, else Infinity. */
  readonly maxQueued: number;
  readonly request: PermitRequest;
  readonly permit: Deferred<Permit>;
  /** Never settled if it need not wait; undefined if it did not ask. */
  readonly firstWait: Deferred<ExpectedWait> | undefined;
  readonly forget: () => void;
}

/** A request with the bounds of its call or of the limiter. */
export interface BoundRequest extends PermitRequest {
  readonly maxWaitMs: number;
  readonly maxQueued: number;
}

/** The levels of the queue: the calls that were refused for their rate, priorities 0 to 8; then the refused ones of 9, and 9. */
export const levels = { others: lastPriority, last: lastPriority + 2 };

/** Another limiter. */
export interface PermitSource {
  takePosition(): number;
  acquire(request: PermitRequest): Promise<Permit>;
}

/** It asks another limiter, with what is left of its bounds. */
export function handOver(
  { deadlineAt, firstWait, permit, request }: Waiter,
  limiter: PermitSource,
  now: number,
): void {
  const onWait = firstWait && ((wait: ExpectedWait) => firstWait.resolve(wait));
  const [maxWaitMs, position] = [Math.max(0, deadlineAt - now), limiter.takePosition()];
  permit.resolve(limiter.acquire({ ...request, maxWaitMs, deadlineInMs: undefined, position, onWait }));
}

export function levelOf(priority: number, isRequeued: boolean): number {
  if (priority !== lastPriority) return isRequeued ? 0 : 1 + priority;
  return levels.last - (isRequeued ? 1 : 0);
}

export function isFull(maxQueued: number): string {
  return `The queue is full: \`maxQueued\` is ${maxQueued}.`;
}
