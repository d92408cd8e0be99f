import type { Endpoint, EndpointInput } from "../endpoint.ts";
import {
  AbortError,
  ApiError,
  AudienceError,
  AuthenticationError,
  ClientClosedError,
  RateLimitError,
  RateLimitWaitError,
  showCaller,
  TimeoutError,
} from "../errors.ts";
import { onAbort, reasonOf } from "../on-abort.ts";
import { apiPromise, type ApiPromise, type CallResult } from "./api-promise.ts";
import { attempt } from "./attempt.ts";
import { buildRequest } from "./build-request.ts";
import { CallKey } from "./call-key.ts";
import { readCallOptions, withRowOptions, type CallSettings } from "./call-options.ts";
import { Call } from "./call.ts";
import type { FamilyAccess, Job, TransportSettings } from "./job.ts";
import { asksForTooLong, retryDelayMs, turnedAwayDelayMs } from "./retry-policy.ts";
import { retry } from "./retry.ts";
import type { Session } from "./session.ts";
import { startTimer } from "./timer.ts";
import { wait } from "./wait.ts";

/** Calls one family's endpoints. */
export type Caller = <Body, Output>(
  endpoint: Endpoint<Body, Output>,
  input: EndpointInput,
  options: unknown,
) => ApiPromise<Output>;

/**
 * The order of steps, the same for every call: check the options, check and build the request once, wait for earlier
 * writes to the same contact, then attempt it until it succeeds or its failure is final.
 */
export class Transport {
  readonly session: Session;
  readonly #settings: TransportSettings;

  constructor(settings: TransportSettings, session: Session) {
    this.#settings = settings;
    this.session = session;
  }

  /** One family's way through this transport. */
  caller(access: FamilyAccess): Caller {
    return (endpoint, input, options) => this.#call(access, endpoint, input, options);
  }

  /** Starts at once. A bad call rejects; it never throws. */
  #call<Body, Output>(
    access: FamilyAccess,
    endpoint: Endpoint<Body, Output>,
    input: EndpointInput,
    options: unknown,
  ): ApiPromise<Output> {
    const { operation, method, path } = endpoint;
    const call = new Call({ requestId: this.#settings.newId(), operation, method, path });
    const result = this.#run(call, access, endpoint, input, options);
    call.result = result;
    const given = apiPromise(result, this.#settings.redactor);
    if (method === "POST") call.companion?.began(result, given);
    return given;
  }

  async #run<Body, Output>(
    call: Call,
    access: FamilyAccess,
    endpoint: Endpoint<Body, Output>,
    input: EndpointInput,
    options: unknown,
  ): Promise<CallResult<Output>> {
    this.session.began(call);
    try {
      const settings = readCallOptions(
        withRowOptions(options, this.session.rowOptions),
        this.#settings.call,
        endpoint.options,
      );
      call.companion = settings.companion;
      const newId = call.companion?.newEventId ?? this.#settings.newId;
      const request = buildRequest(endpoint, input, { options: settings.given, newId });
      call.uniqueIdentifier = endpoint.identifierOf?.(request.sent);
      const key = new CallKey(access.key, settings.timeoutMs, call);
      const deadlineAt = this.#settings.now() + settings.deadlineMs;
      const isRepeatable =
        settings.repeatable ?? endpoint.isRepeatable?.(request.sent) ?? endpoint.method === "GET";
      const contacts = endpoint.contactsOf?.(request.sent) ?? [];
      const consent = endpoint.consentOf?.(request.sent);
      const consentWrite = consent && { contacts, consent };
      const job = {
        call,
        access,
        endpoint,
        request,
        settings,
        key,
        isRepeatable,
        contacts,
        consentWrite,
        deadlineAt,
      };
      const result = await this.#untilInterrupted(call, settings, () => this.#inOrder(job));
      if (call.facts.method === "POST") call.companion?.ended(call, "applied", consentWrite);
      return result;
    } catch (error) {
      call.uniqueIdentifier ??= givenIdentifier(endpoint, input);
      this.#settings.redactor.names(error);
      if (call.facts.method === "POST") call.companion?.ended(call, call.outcome, undefined);
      throw showCaller(call.end(error));
    } finally {
      this.session.ended(call);
    }
  }

  /** The caller hears of its signal, its deadline and `close()` at once, whatever the work is doing. */
  async #untilInterrupted<T>(call: Call, settings: CallSettings, work: () => Promise<T>): Promise<T> {
    const { signal, companion, deadlineMs } = settings;
    if (this.session.isClosed) throw new ClientClosedError();
    if (signal?.aborted) throw abortError(signal);
    const stop = companion?.stop;
    const ends = [
      // A run's own signal is heeded in the way of the run: what is in flight is seen through to its end.
      signal && signal !== stop ? onAbort(signal, () => call.interrupt(abortError(signal))) : undefined,
      stop && onAbort(stop, () => void (call.isInFlight || call.interrupt(abortError(stop)))),
    ];
    const timer = startTimer(() => call.interrupt(deadlineError(deadlineMs)), deadlineMs);
    try {
      return await call.race(work);
    } finally {
      for (const forget of ends) forget?.();
      clearTimeout(timer);
    }
  }

  #inOrder<Body, Output>(job: Job<Body, Output>): Promise<CallResult<Output>> {
    const { call, contacts, settings } = job;
    const askedAt = this.#settings.now();
    const send = () => {
      call.goesOn();
      call.queuedMs += this.#settings.now() - askedAt;
      return retry(() => attempt(job, this.#settings, this.session), {
        // One beside the retries, for a key that has changed.
        maxAttempts: settings.companion ? Infinity : settings.maxRetries + 2,
        beforeNext: (failure, made) => this.#beforeNext(job, failure, made),
      });
    };
    call.waits();
    return this.session.order.run(
      contacts,
      () => this.#watched(job, send),
      () => this.#settings.observer.waitsForContact(call.facts),
    );
  }

  /** Within the order of writes: a row to the same contact is sent only when it is known what this call wrote. */
  #watched<Body, Output>(
    { call, consentWrite, endpoint, request, settings }: Job<Body, Output>,
    run: () => Promise<CallResult<Output>>,
  ): Promise<CallResult<Output>> {
    if (consentWrite === undefined || Object.keys(consentWrite.consent).length === 0) return run();
    const { contacts, consent } = consentWrite;
    return this.session.watchConsent(consentWrite, settings.companion?.run, {
      run,
      outcome: () => call.outcome,
      applied: ({ data }) => {
        const more = endpoint.appliedTo?.(data, request.sent);
        return { contacts: [...contacts, ...(more?.contacts ?? [])], consent: more?.consent ?? consent };
      },
    });
  }

  /** Resolves when the next attempt may be made; rejects with the failure where there is to be none. */
  async #beforeNext<Body>(job: Job<Body, unknown>, failure: Error, made: number): Promise<void> {
    const { call, settings, isRepeatable } = job;
    const { observer, random, now } = this.#settings;
    const isOver = call.signal.aborted || settings.companion?.stop.aborted || this.session.isClosed;
    if (!(failure instanceof AudienceError) || isOver) throw failure;
    if (failure instanceof AuthenticationError && (await job.key.hasChanged())) {
      observer.retries(call.facts, call.attempts, 0, failure);
      return;
    }
    // By attempts made, not by requests sent: a key that was not given is an attempt too.
    const retries = made - 1 - job.key.changes - call.turnedAway;
    const isPaced = this.session.limiter !== undefined;
    const isTurnedAway = goesBackIntoTheQueue(failure, settings);
    const delayMs = isTurnedAway
      ? turnedAwayDelayMs(failure)
      : retryDelayMs({ failure, isRepeatable, isPaced, retries, random: random() });
    if (delayMs === undefined || (retries >= settings.maxRetries && !isTurnedAway)) throw failure;
    if (now() + delayMs > job.deadlineAt)
      throw namesItsWait(failure) ? failure : deadlineError(settings.deadlineMs, failure);
    observer.retries(call.facts, Math.max(1, call.attempts), delayMs, failure);
    // A refusal pauses the limiter for everybody, and lets the refused call go first when the pause ends.
    // A row goes back to its own place, the last: it holds nobody up.
    call.isRequeued = failure instanceof RateLimitError && !isTurnedAway;
    if (call.isRequeued && isPaced) return;
    if (isTurnedAway) call.turnedAway++;
    call.waits();
    await wait(delayMs, call.signal);
    call.goesOn();
  }
}

/** The event's own id, where the event was refused before it was read. */
function givenIdentifier<Body>({ identifierOf }: Endpoint<Body, unknown>, { body }: EndpointInput) {
  try {
    // Whatever it is, it is only looked at.
    const given: unknown = identifierOf?.(body as Body);
    return typeof given === "string" && given !== "" ? given : undefined;
  } catch {
    // No object, or one that cannot be read: that is what the error says.
    return undefined;
  }
}

function abortError(signal: AbortSignal): AbortError {
  return new AbortError({ outcome: "not-sent", cause: reasonOf(signal) });
}

function deadlineError(deadlineMs: number, failure?: AudienceError): TimeoutError {
  const message = failure
    ? `The call's next attempt would begin after its deadline of ${deadlineMs} ms.`
    : `The call was not over within its deadline of ${deadlineMs} ms.`;
  return new TimeoutError({ message, outcome: "not-sent", timeoutMs: deadlineMs, cause: failure });
}

/** A row of a bulk run waits for the rate limit, unless its call says how long, or the service asks for over an hour. */
function goesBackIntoTheQueue(failure: AudienceError, { companion, maxWaitMs }: CallSettings): boolean {
  if (companion === undefined) return false;
  if (failure instanceof RateLimitError) return !asksForTooLong(failure);
  return failure instanceof RateLimitWaitError && maxWaitMs === Infinity;
}

/** Whether a failure says itself when to come back. */
function namesItsWait(failure: AudienceError): boolean {
  return (
    failure instanceof RateLimitError || (failure instanceof ApiError && failure.retryAfterMs !== undefined)
  );
}
