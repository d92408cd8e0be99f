import ky from "ky";
import { ConnectionError, TimeoutError } from "../errors.ts";
import type { Permit } from "../rate-limiter/rate-limiter.ts";
import { isOk, readAnswerHead, type AnswerHead } from "./answer-head.ts";
import { isUndecodable, readConnectionFailure } from "./connection-failure.ts";
import { Interruption } from "./interruption.ts";
import { giveUp, readBody, type Arrival, type BodyText } from "./read-body.ts";
import type { Redactor } from "./redact.ts";
import { sentOnce } from "./sent-once.ts";
import { startTimer } from "./timer.ts";

/** `fetch`, or what behaves like it: a proxy's, a test's. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface OutgoingRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

/** An answer, read to its end or to the limit of its size. */
export interface Exchange extends BodyText {
  readonly status: number;
  readonly headers: Headers;
  readonly url: string;
}

export interface SendOptions {
  readonly fetch: Fetch | undefined;
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  /** The call's: aborted when nobody waits for the answer any more. */
  readonly signal: Interruption;
  readonly permit: Permit;
  /** Told of an answer before its body is read. */
  readonly onHead: (head: AnswerHead) => void;
  /** Makes a message safe to show. */
  readonly redactor: Redactor;
}

/** How long an exchange that nobody waits for may go on, so that its place in the rate limit is known. */
const lingerMs = 2_000;

/** Sends one request and reads its answer. Rejects with a `ConnectionError` or `TimeoutError`, or the signal's reason. */
export async function send(request: OutgoingRequest, options: SendOptions): Promise<Exchange> {
  const { signal, permit, timeoutMs } = options;
  const cut = new Interruption();
  const arrival: Arrival = { bytes: 0 };
  const timeout = startTimer(() => cut.abort(timeoutError(timeoutMs, arrival)), timeoutMs);
  let linger: ReturnType<typeof setTimeout> | undefined;
  const stop = () => cut.abort(signal.reason);
  const letGo = () => {
    if (arrival.status === undefined) linger = setTimeout(stop, lingerMs);
    else stop();
  };
  signal.addEventListener("abort", letGo);
  try {
    const head = await exchangeHeaders(request, options.fetch, cut);
    arrival.status = head.status;
    // Before the place comes back: nobody takes it where the answer begins a pause.
    options.onHead(head);
    permit.release("responded");
    if (signal.aborted) stop();
    const body = await readBody(head, { maxBytes: options.maxResponseBytes, cut, arrival });
    // An error's status is known, whatever became of its body.
    const isCut = body.failure !== undefined && !isUndecodable(body.failure);
    if (isOk(head) && isCut) throw new Error("the body broke off", { cause: body.failure });
    return { ...head, ...body, url: head.url || request.url };
  } catch (error) {
    if (cut.aborted) {
      permit.release("lost");
      throw cut.reason;
    }
    throw connectionError(error, request.url, options);
  } finally {
    clearTimeout(timeout);
    clearTimeout(linger);
    signal.removeEventListener("abort", letGo);
  }
}

/** A fetch that does not heed its signal must not hold the call; what it gives too late is thrown away. */
function exchangeHeaders(
  request: OutgoingRequest,
  fetch: Fetch | undefined,
  cut: Interruption,
): Promise<AnswerHead> {
  const controller = new AbortController();
  const { method, headers, body } = request;
  const init: RequestInit = { method, headers, redirect: "manual", signal: controller.signal };
  if (body !== undefined) Object.assign(init, fetch ? { body } : sentOnce(body));
  return new Promise((resolve, reject) => {
    cut.addEventListener("abort", () => {
      controller.abort(cut.reason);
      reject(cut.reason);
    });
    throughKy(request.url, init, fetch ?? globalThis.fetch)
      .then((response) => {
        const head = readAnswerHead(response);
        if (cut.aborted) giveUp(head.body);
        resolve(head);
      })
      .catch(reject);
  });
}

/**
 * ky's errors hold its Request: it is given neither key nor body, and what is sent is handed on as (url, init), as not
 * every fetch takes the Request of another implementation. A hook that answers spares the clone that ky makes for a
 * retry of its own (D62).
 */
function throughKy(url: string, init: RequestInit, fetch: Fetch): Promise<Response> {
  let response: Response;
  const exchange = async () => {
    return (response = await fetch(url, init));
  };
  return ky(url, {
    hooks: { beforeRequest: [exchange] },
    // Comes to be asked where the answer is of another implementation, which ky does not take from a hook.
    fetch: async () => response,
    retry: 0,
    throwHttpErrors: false,
    timeout: false,
  });
}

function connectionError(error: unknown, url: string, { permit, redactor }: SendOptions): ConnectionError {
  const { reason, wasSent, wasAnswer, ...failure } = readConnectionFailure(error);
  // A fetch of the caller's may put anything into its errors.
  const code = redactor.text(failure.code);
  // Without the path, in which an id may be an e-mail address.
  const { origin } = new URL(url);
  if (wasSent) permit.release("lost");
  else permit.release("unsent");
  const told = code ? ` (${code})` : "";
  const failed = wasAnswer
    ? `What ${origin} answered ${wasAnswer}${told}.`
    : `The connection to ${origin} failed before the whole answer was here${told}.`;
  return new ConnectionError({
    message: wasSent ? failed : `No connection to ${origin} could be made${told}; nothing was sent.`,
    outcome: wasSent ? "unknown" : "not-sent",
    reason,
    cause: safeCause(error, redactor),
  });
}

/** The runtime's error may hold the request, and with it the key: only its words are kept. */
function safeCause(error: unknown, redactor: Redactor): Error | undefined {
  try {
    if (!(error instanceof Error)) return undefined;
    const inner = error.cause instanceof Error ? `: ${error.cause.message}` : "";
    const cause = new Error(redactor.text(`${error.message}${inner}`));
    cause.name = redactor.text(error.name);
    cause.stack = `${cause.name}: ${cause.message}`;
    return cause;
  } catch {
    // A fetch of the caller's own may throw what throws when it is read.
    return undefined;
  }
}

function timeoutError(timeoutMs: number, { status, bytes }: Arrival): TimeoutError {
  const came = status === undefined ? "no headers" : `${status} and ${bytes} bytes of its body`;
  return new TimeoutError({
    message: `No full answer within timeoutMs (${timeoutMs} ms): ${came} came.`,
    outcome: "unknown",
    timeoutMs,
  });
}
