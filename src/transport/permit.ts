import { isAudienceError, RateLimitWaitError } from "../errors.ts";
import type { Permit } from "../rate-limiter/fair-queue.ts";
import { unlessLate, untilAborted } from "./abort-signal.ts";
import type { ApiResponse, Call, Gate, ResponseHead } from "./call.ts";
import { deadlineError, leave } from "./cancellation.ts";
import { refusalWaitMs, retryAfterMs } from "./rate-refusal.ts";

/** The permit of a client without a limiter. */
const unlimited: Permit = { release: () => {} };

/** Longer work with a permit would hold up calls that could be sent. */
const longestPermitHoldMs = 1_000;
/** The body of a refusal comes with its head, or soon after. */
const untilBodyMs = 250;

/**
 * Makes an attempt once its request may be sent. Begins anew where a pause, a long wait, or another write to the contact of a row
 * has made permit and key out of date. `isInFront`: before the calls that wait, as the call was refused for its rate, or has waited.
 */
export async function whenReady(
  call: Call,
  isInFront: boolean,
  newKey: string | undefined,
  attempt: (permit: Permit, key: string) => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const { client, gate, left, options, stop } = call;
  for (;;) {
    let permit = await acquire(call, isInFront);
    let key: string;
    let earlierTurns: Promise<unknown> | undefined;
    let isReady: boolean;
    try {
      key = newKey ?? (await call.request.access.key.request(options.timeoutMs, stop.signal));
      if (gate) {
        permit = await enter(call, gate, permit);
        stop.signal.throwIfAborted();
      }
      // Before the timer of the deadline, which may be late (D109).
      if (performance.now() > call.deadlineAt) leave(call, deadlineError(call));
      // A call that has ended as "not sent" must not be sent, nor one during a pause that began meanwhile (D81).
      left.signal.throwIfAborted();
      earlierTurns = gate && client.turns.before(call.request.contacts);
      isReady = !earlierTurns && !client.limiter.current?.isPaused && (gate?.isOpen() ?? true);
    } catch (error) {
      permit.release("unsent");
      throw error;
    }
    // After the attempt of a row the next write to its contact may be sent.
    if (isReady)
      return await (gate
        ? client.turns.take(call.request.contacts, () => attempt(permit, key))
        : attempt(permit, key));
    permit.release("unsent");
    if (earlierTurns) await untilAborted(earlierTurns, stop.signal);
    [isInFront, newKey] = [gate === undefined, undefined];
  }
}

/** Enters the gate while the call has its permit. Work that takes long, or needs a permit itself, goes on without it. */
async function enter(call: Call, gate: Gate, permit: Permit): Promise<Permit> {
  // A checkpoint may hang: an aborted call must not block the contact's other writes.
  const work = untilAborted(gate.enter(call), call.stop.signal);
  const hasEnded = work.then(() => true);
  if (await unlessLate(hasEnded, longestPermitHoldMs, () => false)) return permit;
  permit.release("unsent");
  await work;
  // The row has had a permit: it goes before the other rows.
  return await acquire(call, true);
}

async function acquire(call: Call, isRequeued: boolean): Promise<Permit> {
  const { client, deadlineAt, options, position, context, settings, stop } = call;
  const limiter = client.limiter.current;
  if (!limiter) return unlimited;
  const { maxQueued, observer } = settings;
  const queuedAt = performance.now();
  const hearsOfWaits = observer.hearsOfWaits;
  let endWait: (() => void) | undefined;
  // A position in the queue holds for the first permit of a call.
  call.position = undefined;
  try {
    return await limiter.acquire({
      priority: options.priority,
      client,
      signal: stop.signal,
      isRequeued,
      position,
      onWait: hearsOfWaits ? (wait) => void (endWait = observer.waits(context, wait, limiter)) : undefined,
      maxWaitMs: options.maxWaitMs,
      // After the deadline, even before its late timer, there is no time to wait.
      deadlineInMs: Math.max(0, deadlineAt - queuedAt),
      maxQueued,
    });
  } catch (error) {
    throw asOwnError(error);
  } finally {
    endWait?.();
    if (hearsOfWaits) observer.storeWarning(limiter.storeWarning);
    context.queuedMs += performance.now() - queuedAt;
  }
}

/** The limiter may belong to another copy of the package: its errors become instances of this copy's class. */
function asOwnError(error: unknown): unknown {
  if (!isAudienceError(error) || error.code !== "rate_limit_wait") return error;
  return error instanceof RateLimitWaitError ? error : new RateLimitWaitError(error);
}

/**
 * The pause of a 429 begins with its head. Where `isRateLimited` judges the body too, how long it is shows only then: until
 * then it is a short one.
 */
export function pauseByHead(call: Call, { status, headers }: ResponseHead): void {
  const { isRateLimited } = call.settings;
  if (status === 429) wasRefused(call, isRateLimited ? untilBodyMs : refusalWaitMs(headers));
  else if (status === 503 && !isRateLimited) call.client.limiter.current?.pause(retryAfterMs(headers) ?? 0);
}

/** The service refused the call for its rate: all calls wait. */
export function wasRefused({ client, context, settings }: Call, waitMs: number | undefined): void {
  const limiter = client.limiter.current;
  if (!limiter) return;
  limiter.refused(waitMs);
  settings.observer.refused(context, limiter);
}
