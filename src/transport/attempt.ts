import { RateLimitWaitError, isAudienceError, type AudienceError } from "../errors.ts";
import { onAbort } from "../on-abort.ts";
import type { Permit } from "../rate-limiter/rate-limiter.ts";
import type { CallResult } from "./api-promise.ts";
import type { RowAttempt } from "./call-options.ts";
import { decode } from "./decode.ts";
import type { Interruption } from "./interruption.ts";
import type { Job, TransportSettings } from "./job.ts";
import { retryAfterMs } from "./retry-after.ts";
import { send, type Exchange, type OutgoingRequest } from "./send.ts";
import type { Session } from "./session.ts";

/** One attempt of a call: takes a place, asks for the key, sends, and decodes the answer. A pause begins it anew. */
export async function attempt<Body, Output>(
  job: Job<Body, Output>,
  settings: TransportSettings,
  session: Session,
): Promise<CallResult<Output>> {
  const { call, endpoint, request } = job;
  call.signal.throwIfAborted();
  const permit = await acquirePermit(job, settings, session);
  const key = await askForKey(job, permit);
  // Nothing may wait between this look and the request: an aborted call that says "not sent" must not be sent, nor may
  // one in a pause that came while it waited for its key (D81).
  if (call.signal.aborted || session.limiter?.isPaused) {
    permit.release("unsent");
    call.isRequeued = !job.settings.companion;
    return attempt(job, settings, session);
  }
  checkConsent(job, permit);
  call.attempts++;
  call.isInFlight = true;
  const tell = settings.observer.attempt(call.facts, call.attempts);
  // True: a call is interrupted with an error of ours. Its caller hears of it now; the exchange may go on unseen (D44).
  call.signal.addEventListener("abort", () => tell(undefined, call.signal.reason as AudienceError));
  let exchange: Exchange | undefined;
  try {
    exchange = await send(address(job, key), {
      ...settings,
      timeoutMs: job.settings.timeoutMs,
      signal: call.signal,
      permit,
      onHead: ({ status, headers }) => {
        if (status === 429) session.limiter?.refused(retryAfterMs(headers));
        else session.limiter?.succeeded();
      },
    });
    const data = decode(exchange, endpoint, request.sent, settings.redactor);
    call.hasSucceeded = true;
    tell(exchange.status);
    return { data, exchange, attempts: call.attempts, queuedMs: call.queuedMs };
  } catch (error) {
    /* v8 ignore next -- @preserve anything else would be a defect of our own */
    call.record(isAudienceError(error) ? error.outcome : "unknown");
    // True: as far as we know.
    tell(exchange?.status, error as AudienceError);
    throw error;
  } finally {
    call.isInFlight = false;
  }
}

/** Where no limit is kept. */
const unlimitedPermit: Permit = { release() {} };

async function acquirePermit<Body>(
  job: Job<Body, unknown>,
  settings: TransportSettings,
  session: Session,
): Promise<Permit> {
  const { call, deadlineAt } = job;
  if (!session.limiter) return unlimitedPermit;
  const askedAt = settings.now();
  // A deadline that has passed, and whose timer is only late, leaves no time to wait.
  const maxWaitMs = Math.max(0, Math.min(job.settings.maxWaitMs ?? Infinity, deadlineAt - askedAt));
  let endWait: (() => void) | undefined;
  const permit = session.limiter.acquire({
    priority: job.settings.priority,
    client: session,
    signal: call.signal,
    isRequeued: call.isRequeued,
    observer: settings.observer,
    onWait: (waitMs) => void (endWait = settings.observer.waits(call.facts, call.attempts + 1, waitMs)),
    // Where the call says nothing, the limiter's own bound holds.
    maxWaitMs: maxWaitMs < Infinity ? maxWaitMs : job.settings.maxWaitMs,
    maxQueued: settings.maxQueued,
  });
  if (!(permit instanceof Promise)) return permit;
  call.waits();
  try {
    return await permit;
  } catch (error) {
    throw ofThisCopy(error);
  } finally {
    endWait?.();
    call.goesOn();
    call.queuedMs += settings.now() - askedAt;
  }
}

/** The one limiter of a process may be of another copy of the package: its errors are made instances of this one's. */
function ofThisCopy(error: unknown): unknown {
  if (!isAudienceError(error) || error.code !== "rate_limit_wait") return error;
  return error instanceof RateLimitWaitError ? error : new RateLimitWaitError(error);
}

/** Asked for once the place is there: a key from before an hour in the queue may have been rotated away. */
async function askForKey<Body>(job: Job<Body, unknown>, permit: Permit): Promise<string> {
  const { call } = job;
  const { companion } = job.settings;
  try {
    const key = await job.key.forAttempt();
    if (companion) {
      call.waits();
      await untilAborted(call.signal, companion.beforeSend(call, rowAttempt(job)));
    }
    return key;
  } catch (error) {
    permit.release("unsent");
    throw error;
  } finally {
    call.goesOn();
  }
}

/** What a row waits for may hang: its contact's other writes wait no longer than the row's call does. */
function untilAborted<T>(signal: Interruption, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, () => reject(signal.reason));
    work.then(resolve, reject).finally(forget);
  });
}

/** A row of a bulk run whose consent was superseded while it waited for its key or its record is not sent. */
function checkConsent<Body>(job: Job<Body, unknown>, permit: Permit): void {
  try {
    job.settings.companion?.checkConsent(rowAttempt(job));
  } catch (error) {
    permit.release("unsent");
    throw error;
  }
}

function rowAttempt<Body>({ endpoint, isRepeatable, consentWrite }: Job<Body, unknown>): RowAttempt {
  return { isRepeatable, isWrite: endpoint.method !== "GET", consentWrite };
}

function address<Body>(
  { access, endpoint, request, settings }: Job<Body, unknown>,
  key: string,
): OutgoingRequest {
  const { body } = request;
  // The authentication comes last: no header of the caller's stands in its place.
  const headers = { ...settings.headers };
  if (body !== undefined) headers["content-type"] = "application/json";
  Object.assign(headers, access.authenticate(key));
  return { method: endpoint.method, url: access.baseUrl + request.target, headers, body };
}
