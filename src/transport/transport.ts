import { parseClientOptions, type ClientOptions, type ClientSettings } from "../client-options.ts";
import type { Endpoint, EndpointInput } from "../endpoint.ts";
import { endWith, isAudienceError, showCaller } from "../errors.ts";
import { apiPromise, type ApiPromise, type WithResponse } from "./api-promise.ts";
import { buildRequest, inputIdentifier } from "./build-request.ts";
import { parseCallOptions, withAmbient } from "./call-options.ts";
import { createClientState, type ClientState } from "./client-state.ts";
import {
  compose,
  type CallContext,
  type CallExtension,
  type FamilyAccess,
  type Handler,
  type Interceptor,
  type RequestContext,
} from "./interceptor.ts";
import { apiKey } from "./interceptors/api-key.ts";
import { deadline } from "./interceptors/deadline.ts";
import { observeAttempt, observeCall } from "./interceptors/observe.ts";
import { rateLimit, unlessPaused } from "./interceptors/rate-limit.ts";
import { retry } from "./interceptors/retry.ts";
import { consentGuard, writeOrder } from "./interceptors/write-order.ts";
import { readResponse } from "./read-response.ts";
import { Redactor } from "./redact.ts";
import { send } from "./send.ts";

/** Calls one family's endpoints. The call starts at once; an invalid call rejects, and never throws. */
export type CallEndpoint = <Body, Output>(
  endpoint: Endpoint<Body, Output>,
  input: EndpointInput,
  options: unknown,
) => ApiPromise<Output>;

const sendRequest: Handler = async (context) => readResponse(await send(context), context);

/** The interceptors of a valid call, the outermost first. Those from `rateLimit` on run for each attempt. */
const interceptors = (extension?: CallExtension): Interceptor[] => [
  ...(extension ? [extension.aroundCall] : []),
  deadline,
  writeOrder,
  consentGuard,
  retry,
  rateLimit,
  apiKey,
  ...(extension ? [extension.aroundAttempt] : []),
  unlessPaused,
  observeAttempt,
];

const handle = compose(interceptors(), sendRequest);

/** The endpoint, its family, and the arguments of a call. */
interface Invocation<Body, Output> {
  readonly access: FamilyAccess;
  readonly endpoint: Endpoint<Body, Output>;
  readonly input: EndpointInput;
  readonly options: unknown;
}

/** The settings of a client, and the calls of its families: validation, then the interceptors, then the request. */
export class Transport {
  readonly client: ClientState;
  readonly settings: ClientSettings;

  /** `client` is the state of another view of the same client. */
  constructor(options: ClientOptions, client?: ClientState) {
    const redactor = client?.redactor ?? new Redactor();
    this.settings = parseClientOptions(options, redactor);
    this.client = client ?? createClientState(this.settings.limiter, redactor);
  }

  family(access: FamilyAccess): CallEndpoint {
    return (endpoint, input, options) => this.#start({ access, endpoint, input, options });
  }

  #start<Body, Output>(invocation: Invocation<Body, Output>): ApiPromise<Output> {
    const { operation, method, path } = invocation.endpoint;
    const call: CallContext = {
      requestId: crypto.randomUUID(),
      operation,
      method,
      path,
      options: undefined,
      attempts: 0,
      queuedMs: 0,
      outcome: "not-sent",
      uniqueIdentifier: undefined,
      abort: new AbortController(),
      stopWaiting: new AbortController(),
    };
    const result = this.#run(call, invocation);
    this.client.underWay.set(call, result);
    const promise = apiPromise(result);
    if (method !== "GET") call.options?.extension?.onWrite(result, promise);
    return promise;
  }

  async #run<Body, Output>(
    call: CallContext,
    invocation: Invocation<Body, Output>,
  ): Promise<WithResponse<Output>> {
    const { redactor } = this.client;
    try {
      const { data, response } = await observeCall(call, this.settings.transport, async () => {
        const context = this.#validate(call, invocation);
        const { extension } = context.options;
        return await (extension ? compose(interceptors(extension), sendRequest) : handle)(context);
      });
      const { attempts, queuedMs } = call;
      const { status, headers, url } = response;
      return {
        // Safe: the endpoint has decoded it.
        data: data as Output,
        response: { status, headers: redactor.headers(headers), url: redactor.string(url) },
        attempts,
        queuedMs,
      };
    } catch (error) {
      call.uniqueIdentifier ??= inputIdentifier(invocation.endpoint, invocation.input);
      redactor.names(error);
      throw showCaller(completeError(error, call));
    } finally {
      this.client.underWay.delete(call);
    }
  }

  /** Throws a `ConfigurationError` or a `ValidationError`. */
  #validate<Body, Output>(
    call: CallContext,
    { access, endpoint, input, options: given }: Invocation<Body, Output>,
  ): RequestContext {
    const { client } = this;
    const settings = this.settings.transport;
    const { ambientOptions } = client;
    const options = parseCallOptions(
      ambientOptions === undefined ? given : withAmbient(given, ambientOptions),
      settings.call,
      endpoint.options,
    );
    call.options = options;
    const newId = options.extension?.newEventId ?? (() => crypto.randomUUID());
    const request = buildRequest(endpoint, input, { options: options.given, newId });
    call.uniqueIdentifier = request.uniqueIdentifier;
    return Object.assign(call, {
      client,
      settings,
      options,
      access,
      request,
      isRepeatable: options.repeatable ?? request.isRepeatable,
      deadlineAt: performance.now() + options.deadlineMs,
      apiKey: { current: "" },
      isInFlight: false,
      isDone: false,
      isRequeued: false,
      onHead: () => {},
    });
  }
}

/** Completes an error with the outcome and the identity of the call. */
function completeError(error: unknown, call: CallContext): unknown {
  /* v8 ignore next -- @preserve a defect of our own, or an error of a row's isCurrent */
  if (!isAudienceError(error) || error.request) return error;
  const { requestId, operation, method, path, attempts, outcome, uniqueIdentifier } = call;
  const request = { requestId, operation, method, path, attempts };
  return endWith(error, { outcome, request, uniqueIdentifier });
}
