import { isAudienceError, RateLimitWaitError } from "../errors.ts";
import type { Permit } from "../rate-limiter/fair-queue.ts";
import { unlessLate, untilAborted } from "./abort-signal.ts";
import type { Call, Gate, ResponseHead } from "./call.ts";
import { deadlineError } from "./cancellation.ts";
import { refusalWaitMs, retryAfterMs } from "./rate-refusal.ts";

/** What an attempt begins with. */
export interface AttemptStart {
  /** It goes before the calls that wait: it was refused for its rate, or has waited before. */
  readonly isInFront: boolean;
  /** The key after a 401. */
  readonly key: string | undefined;
}

/** A permit and a key, with which a request may be sent now. */
export interface Readiness {
  readonly permit: Permit;
  readonly key: string;
  /** Of a row of bulk: after the attempt the next write to its contact may be sent. */
  readonly endTurn: (() => void) | undefined;
}

/** Of a client without a limiter. */
const unlimited: Permit = { release: () => {} };

/** Longer work would hold up calls that could be sent. */
const longestHoldMs = 1_000;
/** The body of a refusal comes with its head, or soon after. */
const untilBodyMs = 250;

/**
 * Waits until a request may be sent. Begins anew where a pause, a long wait, or another write to the contact of a row has made
 * permit and key out of date.
 */
export async function getReady(call: Call, start: AttemptStart): Promise<Readiness> {
  const { client, gate, options, stop } = call;
  let { isInFront, key: newKey } = start;
  for (;;) {
    let permit = await acquire(call, isInFront);
    let earlier: Promise<unknown> | undefined;
    try {
      const key = newKey ?? (await call.request.access.key.request(options.timeoutMs, stop.signal));
      if (gate) {
        permit = await enter(call, gate, permit);
        stop.signal.throwIfAborted();
      }
      // Before its timer, which may be late (D109).
      if (performance.now() > call.deadlineAt) stop.abort((call.left = deadlineError(call)));
      // A call that has ended as "not sent" must not be sent, nor one during a pause that began meanwhile (D81).
      if (call.left) throw call.left;
      const { contacts } = call.request;
      earlier = gate && client.turns.before(contacts);
      if (!earlier && !client.limiter.current?.isPaused && (gate?.isOpen() ?? true))
        return { permit, key, endTurn: gate && client.turns.hold(contacts) };
    } catch (error) {
      permit.release("unsent");
      throw error;
    }
    permit.release("unsent");
    if (earlier) await untilAborted(earlier, stop.signal);
    [isInFront, newKey] = [gate === undefined, undefined];
  }
}

/** Enters the gate while the call has its permit. Work that takes long, or needs a permit itself, goes on without it. */
async function enter(call: Call, gate: Gate, permit: Permit): Promise<Permit> {
  // A checkpoint may hang: an aborted call must not block the contact's other writes.
  const work = untilAborted(gate.enter(call), call.stop.signal);
  const hasEnded = work.then(() => true);
  if (await unlessLate(hasEnded, longestHoldMs, () => false)) return permit;
  permit.release("unsent");
  await work;
  // It has had a permit: it goes before the other rows.
  return await acquire(call, true);
}

async function acquire(call: Call, isRequeued: boolean): Promise<Permit> {
  const { client, deadlineAt, options, position, context, settings, stop } = call;
  const limiter = client.limiter.current;
  if (!limiter) return unlimited;
  const { maxQueued, observer } = settings;
  const askedAt = performance.now();
  const isHeard = observer.hearsOfWaits;
  if (isHeard) observer.storeWarning(limiter.storeWarning);
  let endWait: (() => void) | undefined;
  // It holds for the first permit.
  call.position = undefined;
  try {
    return await limiter.acquire({
      priority: options.priority,
      client,
      signal: stop.signal,
      isRequeued,
      position,
      onWait: isHeard
        ? (wait) =>
            void (endWait = observer.waits(context, context.attempts + 1, wait, () => limiter.storeWarning))
        : undefined,
      maxWaitMs: options.maxWaitMs,
      // After the deadline, even before its late timer, there is no time to wait.
      deadlineInMs: Math.max(0, deadlineAt - askedAt),
      maxQueued,
    });
  } catch (error) {
    throw asOwnError(error);
  } finally {
    endWait?.();
    if (isHeard) observer.storeWarning(limiter.storeWarning);
    context.queuedMs += performance.now() - askedAt;
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
