import type { Endpoint, EndpointInput } from "../endpoint.ts";
import { isAudienceError, note } from "../errors.ts";
import { randomUuid } from "../runtime.ts";
import { untilAborted } from "./abort.ts";
import { apiPromise, showCaller, type ApiPromise, type WithResponse } from "./api-promise.ts";
import { buildRequest, inputIdentifier } from "./build-request.ts";
import { hookOf, parseCallOptions, refuseHeadersOf } from "./call-options.ts";
import type { ApiResponse, Call, CallReport, FamilyAccess, SendCall, TransportSettings } from "./call.ts";
import type { ClientState } from "./client-state.ts";
import { attempts } from "./interceptors/attempts.ts";
import { withDeadline } from "./interceptors/deadline.ts";
import { observeCall } from "./interceptors/observe.ts";
import { inOrder, tellWatches } from "./interceptors/write-order.ts";
import { identify } from "./observer.ts";

/** Calls one family's endpoints. The call starts at once; an invalid call rejects, and never throws. */
export type CallEndpoint = <Body, Output>(
  endpoint: Endpoint<Body, Output>,
  input: EndpointInput,
  options: unknown,
) => ApiPromise<Output>;

/** A call of an endpoint, before its options and its input are checked. */
interface GivenCall<Body, Output> {
  readonly endpoint: Endpoint<Body, Output>;
  readonly input: EndpointInput;
  readonly options: unknown;
  readonly access: FamilyAccess;
  readonly report: CallReport;
  readonly stopWaiting: AbortController;
  /** Of a call of a row without the row's `request`. */
  readonly refusal: Error | undefined;
}

/** The layers of a valid call, the outermost first. Each attempt has a permit, a key, and a request of its own. */
const layers: SendCall = (call) =>
  withDeadline(call, (complete) =>
    inOrder(call, (position) =>
      withBody(call, () =>
        checked(call, () => tellWatches(call, () => attempts(call, { position, complete }))),
      ),
    ),
  );

/** Waits for a body that takes time to parse. Any other call is sent in the same tick of the event loop. */
function withBody({ request: { finished }, stopWaiting }: Call, send: () => Promise<ApiResponse>) {
  return finished ? untilAborted(finished, stopWaiting.signal).then(send) : send();
}

/** The part of the package that makes a write may refuse it here. Any other call is sent in the same tick. */
function checked(call: Call, send: () => Promise<ApiResponse>) {
  return call.writeHook ? call.writeHook.check(call).then(send) : send();
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
    return <Body, Output>(endpoint: Endpoint<Body, Output>, input: EndpointInput, options: unknown) => {
      const { operation, method, path } = endpoint;
      const report: CallReport = {
        facts: identify({ operation, method, path }),
        attempts: 0,
        queuedMs: 0,
        outcome: "not-sent",
        uniqueIdentifier: inputIdentifier(endpoint, input),
      };
      const stopWaiting = new AbortController();
      const refusal = hookOf(options) ? undefined : this.client.refuseForgotten?.();
      const result = this.#run({ endpoint, input, options, access, report, stopWaiting, refusal });
      this.client.underWay.set(stopWaiting, result);
      const promise = apiPromise(result);
      if (method !== "GET") hookOf(options)?.writes?.onWrite(result, promise);
      return promise;
    };
  }

  async #run<Body, Output>(given: GivenCall<Body, Output>): Promise<WithResponse<Output>> {
    const { redactor, underWay } = this.client;
    const { report, stopWaiting } = given;
    try {
      const { data, response } = await observeCall(report, this.#settings, async () => {
        const call = this.#validCall(given);
        return await (call.hook ? call.hook.aroundCall(call, layers) : layers(call));
      });
      const { attempts: sent, queuedMs } = report;
      const { status, url } = response;
      const summary = { status, headers: redactor.headers(response.headers), url: redactor.string(url) };
      // Safe: the endpoint has decoded it.
      return { data: data as Output, response: summary, attempts: sent, queuedMs };
    } catch (error) {
      redactor.names(error);
      completeError(error, report);
      throw showCaller(error);
    } finally {
      underWay.delete(stopWaiting);
    }
  }

  /** Throws a `ConfigurationError` or a `ValidationError`. */
  #validCall<Body, Output>(given: GivenCall<Body, Output>): Call {
    const { endpoint, input, access, report, stopWaiting } = given;
    if (given.refusal) throw given.refusal;
    const options = parseCallOptions(given.options, this.#settings.call, endpoint.options);
    refuseHeadersOf(access, options);
    const hook = hookOf(given.options);
    const newId = hook?.writes?.newEventId ?? (() => randomUuid());
    const request = buildRequest(endpoint, input, { options: options.given, newId });
    report.uniqueIdentifier = request.uniqueIdentifier;
    return {
      report,
      client: this.client,
      settings: this.#settings,
      options,
      access,
      request,
      isRepeatable: options.repeatable ?? request.isRepeatable,
      deadlineAt: performance.now() + options.deadlineMs,
      hook,
      writeHook: request.method === "GET" ? undefined : hook?.writes,
      abort: new AbortController(),
      stopWaiting,
    };
  }
}

function completeError(
  error: unknown,
  { facts, attempts: sent, outcome, uniqueIdentifier }: CallReport,
): void {
  /* v8 ignore next -- @preserve a defect of our own, or an error of a row's isCurrent */
  if (!isAudienceError(error) || error.request) return;
  note(error, { outcome, request: { ...facts, attempts: sent }, uniqueIdentifier });
}
