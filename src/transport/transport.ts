import { parseClientOptions, type ClientOptions, type ClientSettings } from "../client-options.ts";
import type { Endpoint, EndpointInput } from "../endpoint.ts";
import { isAudienceError, note, showCaller } from "../errors.ts";
import { apiPromise, type ApiPromise, type WithResponse } from "./api-promise.ts";
import { buildRequest, inputIdentifier } from "./build-request.ts";
import { parseCallOptions, refuseHeadersOf, withAmbient } from "./call-options.ts";
import { ClientState } from "./client-state.ts";
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
import { identify } from "./observer.ts";
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

/** The settings of a client, and the calls of its families: validation, then the interceptors, then the request. */
export class Transport {
  readonly client: ClientState;
  readonly settings: ClientSettings;

  /** `client` is the state of another view of the same client. */
  constructor(options: ClientOptions, client?: ClientState) {
    const redactor = client?.redactor ?? new Redactor();
    this.settings = parseClientOptions(options, redactor);
    this.client = client ?? new ClientState(this.settings.limiter, redactor);
  }

  family(access: FamilyAccess): CallEndpoint {
    const { client, settings } = this;
    return <Body, Output>(endpoint: Endpoint<Body, Output>, input: EndpointInput, given: unknown) => {
      const { operation, method, path } = endpoint;
      const call: CallContext = {
        facts: identify({ operation, method, path }),
        options: undefined,
        attempts: 0,
        queuedMs: 0,
        outcome: "not-sent",
        uniqueIdentifier: inputIdentifier(endpoint, input),
        abort: new AbortController(),
        stopWaiting: new AbortController(),
      };
      const validate = (): RequestContext => {
        const options = parseCallOptions(
          withAmbient(given, client.ambientOptions),
          settings.call,
          endpoint.options,
        );
        call.options = options;
        refuseHeadersOf(access, options);
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
          holdPermit: (work: Promise<void>) => work,
        });
      };
      const result = this.#run<Output>(call, validate);
      client.underWay.set(call, result);
      const promise = apiPromise(result);
      if (method !== "GET") call.options?.extension?.onWrite(result, promise);
      return promise;
    };
  }

  async #run<Output>(call: CallContext, validate: () => RequestContext): Promise<WithResponse<Output>> {
    const { redactor, underWay } = this.client;
    try {
      const { data, response } = await observeCall(call, this.settings, async () => {
        const context = validate();
        return await compose(interceptors(context.options.extension), sendRequest)(context);
      });
      const { attempts, queuedMs } = call;
      const { status, url } = response;
      const summary = { status, headers: redactor.headers(response.headers), url: redactor.string(url) };
      // Safe: the endpoint has decoded it.
      return { data: data as Output, response: summary, attempts, queuedMs };
    } catch (error) {
      redactor.names(error);
      completeError(error, call);
      throw showCaller(error);
    } finally {
      underWay.delete(call);
    }
  }
}

function completeError(error: unknown, { facts, attempts, outcome, uniqueIdentifier }: CallContext): void {
  /* v8 ignore next -- @preserve a defect of our own, or an error of a row's isCurrent */
  if (!isAudienceError(error) || error.request) return;
  note(error, { outcome, request: { ...facts, attempts }, uniqueIdentifier });
}
