import type { Endpoint, EndpointInput } from "../endpoint.ts";
import { isAudienceError, assignFacts, RateLimitWaitError } from "../errors.ts";
import { randomUuid } from "../runtime.ts";
import { withoutPrototype } from "../values/predicates.ts";
import { apiPromise, showCall, showCaller, type ApiPromise, type WithResponse } from "./api-promise.ts";
import { attempts } from "./attempts.ts";
import { buildRequest, inputIdentifier } from "./build-request.ts";
import { parseCallOptions, refuseHeadersOf } from "./call-options.ts";
import type {
  ApiResponse,
  Call,
  CallReport,
  CallSettings,
  FamilyAccess,
  Gate,
  PreparedCall,
  TransportSettings,
} from "./call.ts";
import type { ClientState } from "./client-state.ts";
import { tellListeners } from "./consent-registry.ts";
import { withDeadline } from "./deadline.ts";
import { observeCall } from "./observe.ts";
import { identify, type CallFacts } from "./observer.ts";
import { inOrder } from "./write-order.ts";

/** Calls one family's endpoints, at once. `read` gives the input that is checked. An invalid call rejects, and never throws. */
export type CallEndpoint = <Body, Output>(
  endpoint: Endpoint<Body, Output>,
  given: EndpointInput,
  options: unknown,
  read?: () => EndpointInput,
) => ApiPromise<Output>;

/** How a call is prepared: its options, then all else. */
export interface Preparation {
  readonly parse: () => CallSettings;
  readonly prepare: (settings: CallSettings) => PreparedCall;
}

/** What a prepared call is sent with; each goes before the call's own. */
export interface SendSettings extends Partial<Omit<CallSettings, "headers" | "given">> {
  readonly gate?: Gate | undefined;
}

/** The layers of a valid call, the outermost first. Each attempt has a permit, a key, and a request of its own. */
const layers = (call: Call): Promise<ApiResponse> =>
  withDeadline(call, () => inOrder(call, () => tellListeners(call, () => attempts(call))));

const withOwnMembers = new WeakMap<object, object>();

/** An endpoint without a prototype, as anything in the process may have changed that: copied once. */
function ownMembers<Body, Output>(endpoint: Endpoint<Body, Output>): Endpoint<Body, Output> {
  const copy = withOwnMembers.get(endpoint) ?? withoutPrototype(endpoint);
  withOwnMembers.set(endpoint, copy);
  // Safe: it is the copy of this endpoint.
  return copy as Endpoint<Body, Output>;
}

/** The calls of a client's families: validation, then the layers. */
export class Transport {
  readonly client: ClientState;
  readonly #settings: TransportSettings;

  /** Several views of one client share its state. */
  constructor(settings: TransportSettings, client: ClientState) {
    this.#settings = settings;
    this.client = client;
  }

  family(access: FamilyAccess): CallEndpoint {
    return (of, given, options, read = () => given) => {
      const endpoint = ownMembers(of);
      return this.start(endpoint, given, {
        parse: () => parseCallOptions(options, this.#settings.call, endpoint.options),
        prepare: (settings) => prepareCall(endpoint, read(), { access, settings }),
      });
    };
  }

  /** Sends a call that was prepared before. */
  send(prepared: PreparedCall, { gate, ...settings }: SendSettings): ApiPromise<unknown> {
    const { operation, request } = prepared;
    const call = { ...prepared, options: withoutPrototype({ ...prepared.options, ...settings }) };
    return this.#start({ ...request, operation }, request.uniqueIdentifier, () => call, gate);
  }

  /** Starts a call of an endpoint: it rejects with what the two functions throw. */
  start<Body, Output>(
    endpoint: Endpoint<Body, Output>,
    input: EndpointInput,
    { parse, prepare }: Preparation,
  ): ApiPromise<Output> {
    let prepared: () => PreparedCall;
    try {
      const settings = parse();
      const full = this.client.limiter?.fullQueue(settings.priority, this.#settings.maxQueued);
      // Made here, before all else and near the caller's line: a flood of such calls must cost next to nothing.
      if (full) throw new RateLimitWaitError(full);
      prepared = () => prepare(settings);
    } catch (error) {
      prepared = () => {
        throw error;
      };
    }
    return this.#start(endpoint, inputIdentifier(endpoint, input), prepared);
  }

  /** The error of a call that cannot be prepared has the line of the caller in its stack; a later one gets it here (D182). */
  #start<Output>(
    { operation, method, path }: Omit<CallFacts, "requestId">,
    uniqueIdentifier: string | undefined,
    prepare: () => PreparedCall,
    gate?: Gate,
  ): ApiPromise<Output> {
    const report: CallReport = {
      facts: identify({ operation, method, path }),
      attempts: 0,
      queuedMs: 0,
      outcome: "not-sent",
      uniqueIdentifier,
    };
    let stopWaiting: AbortController | undefined;
    try {
      const response = observeCall(report, this.#settings, () => {
        const call = this.#callOf(report, prepare(), gate);
        ({ stopWaiting } = call);
        return layers(call);
      });
      const result = this.#resultOf<Output>(report, response, { caller: new Error(), stopWaiting });
      if (stopWaiting) this.client.underWay.set(stopWaiting, result);
      return apiPromise(result);
    } catch (error) {
      this.#complete(error, report);
      // That of a full queue has it near the top: to point it there would cost as much again.
      return apiPromise(Promise.reject(error instanceof RateLimitWaitError ? error : showCaller(error)));
    }
  }

  async #resultOf<Output>(
    report: CallReport,
    exchange: Promise<ApiResponse>,
    { caller, stopWaiting }: { caller: Error; stopWaiting: AbortController | undefined },
  ): Promise<WithResponse<Output>> {
    const { redactor, underWay } = this.client;
    try {
      const { data, response } = await exchange;
      const { attempts: sent, queuedMs } = report;
      const { status, url } = response;
      const summary = { status, headers: redactor.headers(response.headers), url: redactor.string(url) };
      // Safe: the endpoint has decoded it.
      return { data: data as Output, response: summary, attempts: sent, queuedMs };
    } catch (error) {
      throw showCall(this.#complete(error, report), caller);
    } finally {
      if (stopWaiting) underWay.delete(stopWaiting);
    }
  }

  /** Adds to the error of a call what is known of the call, and takes out the keys. */
  #complete(error: unknown, { facts, attempts: sent, outcome, uniqueIdentifier }: CallReport): unknown {
    this.client.redactor.error(error);
    /* v8 ignore next -- @preserve a defect of our own, or an error of a row's isCurrent */
    if (isAudienceError(error) && !error.request)
      assignFacts(error, { outcome, request: { ...facts, attempts: sent }, uniqueIdentifier });
    return error;
  }

  #callOf(report: CallReport, prepared: PreparedCall, gate: Gate | undefined): Call {
    report.uniqueIdentifier = prepared.request.uniqueIdentifier;
    return {
      ...prepared,
      report,
      client: this.client,
      settings: this.#settings,
      deadlineAt: performance.now() + prepared.options.deadlineMs,
      gate,
      abort: new AbortController(),
      stopWaiting: new AbortController(),
      position: undefined,
      isComplete: false,
    };
  }
}

/**
 * Validates a call, and sends nothing. Throws a `ConfigurationError` or a `ValidationError`. The endpoint has no prototype,
 * as anything in the process may have changed that.
 */
export function prepareCall<Body, Output>(
  endpoint: Endpoint<Body, Output>,
  input: EndpointInput,
  {
    access,
    settings,
    newEventId = () => randomUuid(),
  }: {
    access: FamilyAccess;
    settings: CallSettings;
    newEventId?: ((eventName: string) => string) | undefined;
  },
): PreparedCall {
  refuseHeadersOf(access, settings);
  const request = buildRequest(endpoint, withoutPrototype(input), {
    options: settings.given,
    newId: newEventId,
  });
  const isRepeatable = settings.repeatable ?? request.isRepeatable;
  return { operation: endpoint.operation, access, options: settings, request, isRepeatable };
}
