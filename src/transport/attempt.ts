import { AudienceError, RateLimitError, RateLimitWaitError, isAudienceError } from "../errors.ts";
import type { Place } from "../rate-limiter/rate-limiter.ts";
import type { CallResult } from "./api-promise.ts";
import { decode } from "./decode.ts";
import type { Job, TransportSettings } from "./job.ts";
import { send, type Exchange, type OutgoingRequest } from "./send.ts";
import type { Session } from "./session.ts";

/** One attempt of a call: takes a place, asks for the key, sends, and decodes the answer. */
export async function attempt<Body, Output>(
  job: Job<Body, Output>,
  settings: TransportSettings,
  session: Session,
): Promise<CallResult<Output>> {
  const { call, endpoint, request } = job;
  const place = await takePlace(job, settings, session);
  settings.observer.limitsAlone(session.limiter?.absence());
  const outgoing = await address(job, place);
  call.attempts++;
  call.isInFlight = true;
  const seen = settings.observer.attempt(call, call.attempts);
  const sentAt = settings.now();
  let exchange: Exchange | undefined;
  try {
    exchange = await exchangeOnce(outgoing, place, job, settings);
    if (exchange.status !== 429) session.limiter?.succeeded();
    const data = decode(exchange, endpoint, request.sent, settings.redactor);
    seen.answered(exchange.status, settings.now() - sentAt);
    return { data, exchange, attempts: call.attempts, queuedMs: call.queuedMs };
  } catch (error) {
    /* v8 ignore next -- @preserve a defect of our own */
    if (!(error instanceof AudienceError)) throw error;
    if (error instanceof RateLimitError) session.limiter?.refused(error.retryAfterMs);
    call.record(error.outcome);
    if (exchange) seen.answered(exchange.status, settings.now() - sentAt, error);
    else seen.failed(settings.now() - sentAt, error);
    throw error;
  } finally {
    call.isInFlight = false;
  }
}

/** Where no limit is kept. */
const unlimitedPlace: Place = { answered() {}, lost() {}, unused() {} };

async function takePlace<Body>(
  job: Job<Body, unknown>,
  settings: TransportSettings,
  session: Session,
): Promise<Place> {
  const { call, deadlineAt } = job;
  if (!session.limiter) return unlimitedPlace;
  const askedAt = settings.now();
  // A deadline that has passed, and whose timer is only late, leaves no time to wait.
  const maxWaitMs = Math.max(0, Math.min(job.settings.maxWaitMs ?? Infinity, deadlineAt - askedAt));
  const place = session.limiter.take({
    priority: job.settings.priority,
    client: session,
    signal: call.signal,
    goesFirst: call.wasRefused,
    onWait: (waitMs) => settings.observer.waits(call, call.attempts + 1, waitMs),
    // Where the call says nothing, the limiter's own bound holds.
    ...(maxWaitMs === Infinity && job.settings.maxWaitMs === undefined ? {} : { maxWaitMs }),
    ...(settings.maxQueued === undefined ? {} : { maxQueued: settings.maxQueued }),
  });
  if (!(place instanceof Promise)) return place;
  call.waits();
  try {
    return await place;
  } catch (error) {
    throw ofThisCopy(error);
  } finally {
    call.goesOn();
    call.queuedMs += settings.now() - askedAt;
  }
}

/** The one limiter of a process may be of another copy of the package: its errors are made instances of this one's. */
function ofThisCopy(error: unknown): unknown {
  if (!isAudienceError(error) || error.code !== "rate_limit_wait") return error;
  // By its code it is a RateLimitWaitError, of whichever copy.
  return error instanceof RateLimitWaitError ? error : new RateLimitWaitError(error as RateLimitWaitError);
}

/**
 * The request with its key, which is asked for once the place is there: one that was asked for before an hour in the
 * queue may have been rotated away.
 */
async function address<Body>(job: Job<Body, unknown>, place: Place): Promise<OutgoingRequest> {
  const { call, access, endpoint, request } = job;
  try {
    const key = await job.key.forAttempt();
    await job.settings.companion?.beforeSend(call, job.isRepeatable);
    call.signal.throwIfAborted();
    return {
      method: endpoint.method,
      url: access.baseUrl + request.target,
      // The authentication comes last: no header of the caller's stands in its place.
      headers: {
        ...job.settings.headers,
        ...(request.body === undefined ? {} : { "content-type": "application/json" }),
        ...access.authenticate(key),
      },
      body: request.body,
    };
  } catch (error) {
    place.unused();
    throw error;
  }
}

function exchangeOnce<Body>(
  outgoing: OutgoingRequest,
  place: Place,
  { call, settings: { timeoutMs } }: Job<Body, unknown>,
  { fetch, maxResponseBytes, redactor }: TransportSettings,
): Promise<Exchange> {
  const redact = (text: string) => redactor.text(text);
  return send(outgoing, { fetch, timeoutMs, maxResponseBytes, signal: call.signal, place, redact });
}
