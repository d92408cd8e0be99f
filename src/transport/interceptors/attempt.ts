import { AuthenticationError, isAudienceError, RateLimitError, RateLimitWaitError } from "../../errors.ts";
import type { Permit } from "../../rate-limiter/rate-limiter.ts";
import type { PermitUse } from "../../rate-limiter/sliding-window-log.ts";
import { unlessLate, untilAborted } from "../abort.ts";
import { changedKey, currentKey } from "../api-key.ts";
import type { ApiResponse, AttemptEnd, Call, Gate, ResponseHead, SentRequest } from "../call.ts";
import { refusalWaitMs, retryAfterMs } from "../rate-refusal.ts";
import { readResponse } from "../read-response.ts";
import { send } from "../send.ts";
import { deadlineError } from "./deadline.ts";
import { observeAttempt } from "./observe.ts";

/** What an attempt begins with. */
export interface AttemptStart {
  /** The call's position in the queue, if it has waited for an earlier write. */
  readonly position: number | undefined;
  /** It was refused for its rate: it goes before the calls that wait. */
  readonly isInFront: boolean;
  /** The key after a 401. */
  readonly key?: string | undefined;
  /** Whether a 401 asks the key function once more. */
  readonly mayRenewKey: boolean;
}

/** A permit and a key, with which a request may be sent now. */
interface Readiness {
  readonly permit: Permit;
  readonly key: string;
}

/** Of a client without a limiter. */
const unlimited: Permit = { release: () => {} };

/** Longer work would hold up calls that could be sent. */
const longestHoldMs = 1_000;

/**
 * Makes one attempt. `complete` is called when its response has been decoded. Rejects with what is no end of an attempt:
 * an error of its gate, or a defect of our own.
 */
export async function attempt(call: Call, start: AttemptStart, complete: () => void): Promise<AttemptEnd> {
  let key: string | undefined;
  try {
    const ready = await getReady(call, start);
    key = ready.key;
    return { kind: "response", response: await observeAttempt(call, () => exchange(call, ready, complete)) };
  } catch (error) {
    if (!(error instanceof AuthenticationError) || key === undefined || !start.mayRenewKey)
      return endOf(error);
    const newKey = await changedKey(call, key);
    return newKey === undefined ? endOf(error) : { kind: "new-key", error, key: newKey };
  }
}

function endOf(error: unknown): AttemptEnd {
  if (error instanceof RateLimitWaitError) return { kind: "no-permit", error };
  if (error instanceof RateLimitError) return { kind: "refused", error };
  if (isAudienceError(error)) return { kind: "failed", error };
  throw error;
}

/** Waits until a request may be sent. Begins anew where a pause, or a long wait, has made permit and key out of date. */
async function getReady(call: Call, { isInFront, key: newKey, position }: AttemptStart): Promise<Readiness> {
  const { abort, client, gate, stopWaiting } = call;
  let start = { isInFront, key: newKey, position };
  for (;;) {
    let permit = await acquire(call, start);
    try {
      const key = start.key ?? (await currentKey(call));
      if (gate) {
        permit = await enter(call, gate, permit);
        stopWaiting.signal.throwIfAborted();
      }
      // Before its timer, which may be late (D109).
      if (performance.now() > call.deadlineAt) abort.abort(deadlineError(call));
      // A call that was aborted as "not sent" must not be sent, nor one during a pause that began meanwhile (D81).
      abort.signal.throwIfAborted();
      if (!client.limiter?.isPaused && (gate?.isOpen() ?? true)) return { permit, key };
    } catch (error) {
      permit.release("unsent");
      throw error;
    }
    permit.release("unsent");
    start = { isInFront: gate === undefined, key: undefined, position: undefined };
  }
}

/** Enters the gate while the call has its permit. Work that takes long, or needs a permit itself, goes on without it. */
async function enter(call: Call, gate: Gate, permit: Permit): Promise<Permit> {
  // A checkpoint may hang: an aborted call must not block the contact's other writes.
  const work = untilAborted(gate.enter(call), call.stopWaiting.signal);
  const hasEnded = work.then(() => true);
  if (await unlessLate(hasEnded, longestHoldMs, () => false)) return permit;
  permit.release("unsent");
  await work;
  // It has had a permit: it goes before the other rows.
  return await acquire(call, { isInFront: true });
}

/** Sends the request, reads its response, and makes the other calls wait where it says so. */
async function exchange(call: Call, ready: Readiness, complete: () => void): Promise<ApiResponse> {
  const { read, pausedMs } = await sendWithPermit(call, ready);
  try {
    const response = readResponse(await read(), call);
    complete();
    call.client.limiter?.succeeded();
    return response;
  } catch (error) {
    // Its body may say that it is a refusal, or name a longer wait than its headers.
    if (error instanceof RateLimitError && (error.status !== 429 || (error.retryAfterMs ?? 0) > pausedMs))
      wasRefused(call, error.retryAfterMs);
    throw error;
  }
}

/** The permit comes back with the head of the response, or with the failure to get one. */
async function sendWithPermit(
  call: Call,
  { permit, key }: Readiness,
): Promise<SentRequest & { pausedMs: number }> {
  let use: PermitUse = "unsent";
  try {
    // A hook or a subscriber may have aborted the call.
    call.abort.signal.throwIfAborted();
    use = "lost";
    const sent = await send(call, key);
    // Before the release: if the response begins a pause, no other call may acquire the permit.
    const pausedMs = pauseByHead(call, sent.head);
    use = "responded";
    return { ...sent, pausedMs };
  } catch (error) {
    if (isAudienceError(error) && error.outcome === "not-sent") use = "unsent";
    throw error;
  } finally {
    permit.release(use);
  }
}

/** The pause of a 429 begins with its head. Returns it, in milliseconds. */
function pauseByHead(call: Call, { status, headers }: ResponseHead): number {
  if (status === 429) {
    const waitMs = refusalWaitMs(headers);
    wasRefused(call, waitMs);
    return waitMs ?? 0;
  }
  if (status === 503 && !call.settings.isRateLimited) call.client.limiter?.pause(retryAfterMs(headers) ?? 0);
  return 0;
}

function wasRefused({ client: { limiter }, report, settings }: Call, waitMs: number | undefined): void {
  if (!limiter) return;
  limiter.refused(waitMs);
  settings.observer.refused(report.facts, report.attempts, limiter);
}

async function acquire(
  call: Call,
  { isInFront, position }: { readonly isInFront: boolean; readonly position?: number | undefined },
): Promise<Permit> {
  const { client, deadlineAt, options, report, settings, stopWaiting } = call;
  if (!client.limiter) return unlimited;
  const { maxQueued, observer } = settings;
  const askedAt = performance.now();
  let endWait: (() => void) | undefined;
  try {
    return await client.limiter.acquire({
      priority: options.priority,
      client,
      signal: stopWaiting.signal,
      isRequeued: isInFront,
      position,
      observer,
      onWait: (wait) => void (endWait = observer.waits(report.facts, report.attempts + 1, wait)),
      maxWaitMs: options.maxWaitMs,
      // After the deadline, even before its late timer, there is no time to wait.
      deadlineInMs: Math.max(0, deadlineAt - askedAt),
      maxQueued,
    });
  } catch (error) {
    throw asOwnError(error);
  } finally {
    endWait?.();
    report.queuedMs += performance.now() - askedAt;
  }
}

/** Before anything is made for the call: a flood of calls beyond `maxQueued` must cost next to nothing. */
export function refuseIfFull(
  { limiter }: Call["client"],
  { maxQueued }: Call["settings"],
  { priority }: Call["options"],
): void {
  const error = limiter?.fullError(priority, maxQueued);
  if (error) throw asOwnError(error);
}

/** The limiter may belong to another copy of the package: its errors become instances of this copy's class. */
function asOwnError(error: unknown): unknown {
  if (!isAudienceError(error) || error.code !== "rate_limit_wait") return error;
  return error instanceof RateLimitWaitError ? error : new RateLimitWaitError(error);
}
