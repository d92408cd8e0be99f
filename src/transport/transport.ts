import type { Endpoint, EndpointInput } from "../endpoint.ts";
import { isAudienceError, assignFacts } from "../errors.ts";
import { randomUuid } from "../runtime.ts";
import { withoutPrototype } from "../values/predicates.ts";
import { apiPromise, showCall, type ApiPromise, type WithResponse } from "./api-promise.ts";
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
import { refuseIfFull } from "./permit.ts";
import { inOrder } from "./write-order.ts";

/** Calls one family's endpoints, at once. `read` gives the input that is checked. An invalid call rejects, and never throws. */
export type CallEndpoint = <Body, Output>(
  endpoint: Endpoint<Body, Output>,
  given: EndpointInput,
  options: unknown,
  read?: () => EndpointInput,
) => ApiPromise<Output>;

/** A call that starts. What it sends is checked while it is observed. */
interface StartedCall {
  readonly prepare: () => PreparedCall;
  readonly gate: Gate | undefined;
  readonly report: CallReport;
  /** Its stack has the line that makes the call; it becomes text when it is read. */
  readonly caller: Error;
  /** Set once the call is prepared. */
  stopWaiting?: AbortController;
}

/** What a prepared call is sent with; each goes before the call's own. */
export interface SendSettings extends Partial<Omit<CallSettings, "headers" | "given">> {
  readonly gate?: Gate | undefined;
}

/** The layers of a valid call, the outermost first. Each attempt has a permit, a key, and a request of its own. */
const layers = (call: Call): Promise<ApiResponse> =>
  withDeadline(call, () => inOrder(call, () => tellListeners(call, () => attempts(call))));

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
      const endpoint = withoutPrototype(of);
      return this.start(endpoint, given, () => {
        const settings = parseCallOptions(options, this.#settings.call, endpoint.options);
        this.refuseIfFull(settings);
        return prepareCall(endpoint, read(), { access, settings });
      });
    };
  }

  /** Sends a call that was prepared before. */
  send(prepared: PreparedCall, { gate, ...settings }: SendSettings): ApiPromise<unknown> {
    const { operation, request } = prepared;
    const call = { ...prepared, options: withoutPrototype({ ...prepared.options, ...settings }) };
    return this.#start({ ...request, operation }, request.uniqueIdentifier, { prepare: () => call, gate });
  }

  /** Throws where the queue of the rate limit is full: before anything is made for the call. */
  refuseIfFull(settings: CallSettings): void {
    refuseIfFull(this.client, this.#settings, settings);
  }

  /** Starts a call of an endpoint: it rejects with what `prepare` throws. */
  start<Body, Output>(
    endpoint: Endpoint<Body, Output>,
    input: EndpointInput,
    prepare: () => PreparedCall,
  ): ApiPromise<Output> {
    return this.#start(endpoint, inputIdentifier(endpoint, input), { prepare, gate: undefined });
  }

  #start<Output>(
    { operation, method, path }: Omit<CallFacts, "requestId">,
    uniqueIdentifier: string | undefined,
    { prepare, gate }: Pick<StartedCall, "prepare" | "gate">,
  ): ApiPromise<Output> {
    const report: CallReport = {
      facts: identify({ operation, method, path }),
      attempts: 0,
      queuedMs: 0,
      outcome: "not-sent",
      uniqueIdentifier,
    };
    const started: StartedCall = { prepare, gate, report, caller: new Error() };
    const result = this.#run<Output>(started);
    if (started.stopWaiting) this.client.underWay.set(started.stopWaiting, result);
    return apiPromise(result);
  }

  async #run<Output>(started: StartedCall): Promise<WithResponse<Output>> {
    const { redactor, underWay } = this.client;
    const { report, caller } = started;
    try {
      const { data, response } = await observeCall(
        report,
        this.#settings,
        async () => await layers(this.#callOf(started)),
      );
      const { attempts: sent, queuedMs } = report;
      const { status, url } = response;
      const summary = { status, headers: redactor.headers(response.headers), url: redactor.string(url) };
      // Safe: the endpoint has decoded it.
      return { data: data as Output, response: summary, attempts: sent, queuedMs };
    } catch (error) {
      redactor.error(error);
      completeError(error, report);
      throw showCall(error, caller);
    } finally {
      if (started.stopWaiting) underWay.delete(started.stopWaiting);
    }
  }

  #callOf(started: StartedCall): Call {
    const { gate, prepare, report } = started;
    const prepared = prepare();
    started.stopWaiting = new AbortController();
    report.uniqueIdentifier = prepared.request.uniqueIdentifier;
    return {
      ...prepared,
      report,
      client: this.client,
      settings: this.#settings,
      deadlineAt: performance.now() + prepared.options.deadlineMs,
      gate,
      abort: new AbortController(),
      stopWaiting: started.stopWaiting,
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

function completeError(
  error: unknown,
  { facts, attempts: sent, outcome, uniqueIdentifier }: CallReport,
): void {
  /* v8 ignore next -- @preserve a defect of our own, or an error of a row's isCurrent */
  if (!isAudienceError(error) || error.request) return;
  assignFacts(error, { outcome, request: { ...facts, attempts: sent }, uniqueIdentifier });
}
