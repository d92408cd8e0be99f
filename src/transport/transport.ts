import type { Endpoint, EndpointInput } from "../endpoint.ts";
import { assignFacts } from "../error-facts.ts";
import { isAudienceError } from "../errors.ts";
import { permitError } from "../rate-limiter/forecast.ts";
import { optionTypes } from "../schema/parse-options.ts";
import { hasProperty, isRecord, withoutPrototype } from "../values/predicates.ts";
import type { FamilyAccess } from "./api-key.ts";
import { apiPromise, rejected, showCall, showCaller, type ApiPromise } from "./api-promise.ts";
import { attempts } from "./attempts.ts";
import { parseCallOptions, type CallSettings } from "./call-options.ts";
import { identityOf, type CallContext } from "./call-outcome.ts";
import type { ApiResponse, Gate, PreparedCall, TransportSettings } from "./call.ts";
import { cancellable } from "./cancellation.ts";
import type { ClientState } from "./client-state.ts";
import { tellListeners } from "./consent-registry.ts";
import { prepareCall } from "./prepare-call.ts";
import { traceCall } from "./tracing.ts";
import { inOrder } from "./write-order.ts";

/** Calls one family's endpoints, at once. An invalid call rejects, and never throws. */
export type CallEndpoint = <Body, Output>(
  endpoint: Endpoint<Body, Output>,
  input: EndpointInput,
  options: unknown,
) => ApiPromise<Output>;

/** What a prepared call is sent with; each goes before the call's own. */
export interface SendSettings extends Partial<Omit<CallSettings, "headers" | "consent">> {
  readonly gate: Gate;
}

/** The layers of a valid call, the outermost first. Each attempt has a permit, a key, and a request of its own. */
const send = cancellable(inOrder(tellListeners(attempts)));

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
    return (endpoint, input, givenOptions) => {
      // Anything in the process may have changed what all objects inherit.
      Object.setPrototypeOf(endpoint, null);
      return this.start(endpoint, input, () => {
        this.refuseFullQueue(givenOptions);
        const options = parseCallOptions(givenOptions, this.#settings.call, endpoint.options);
        return prepareCall(endpoint, input, { access, options });
      });
    };
  }

  /** Sends a call that was prepared before. */
  send(prepared: PreparedCall, { gate, ...settings }: SendSettings): ApiPromise<unknown> {
    const options = withoutPrototype({ ...prepared.options, ...settings });
    return this.start(prepared.endpoint, {}, () => ({ ...prepared, options }), gate);
  }

  /** Before anything is made for the call: a flood of such calls must cost next to nothing, and a stack is half the cost. */
  refuseFullQueue(options: unknown): void {
    const priority = namedPriority(options) ?? this.#settings.call.priority;
    const full = this.client.limiter.current?.dispatcher.fullQueue(priority, this.#settings.maxQueued);
    if (full) throw permitError(full);
  }

  /** Starts a call of an endpoint: it rejects with what `prepare` throws. */
  start<Body, Output>(
    endpoint: Endpoint<Body, Output>,
    input: EndpointInput,
    prepare: () => PreparedCall,
    gate?: Gate,
  ): ApiPromise<Output> {
    const { operation, method, path, identifierOf } = endpoint;
    const context: CallContext = {
      operation,
      method,
      path,
      requestId: undefined,
      uniqueIdentifier: identifierOf && inputIdentifier(endpoint, input),
      attempts: 0,
      queuedMs: 0,
      outcome: "not-sent",
    };
    const { client } = this;
    const settings = this.#settings;
    try {
      const tracing = settings.callTracing();
      const stop = new AbortController();
      const sendCall = () => {
        const request = prepare();
        const { options } = request;
        context.uniqueIdentifier = request.uniqueIdentifier;
        const deadlineAt = performance.now() + options.deadlineMs;
        const left = new AbortController();
        const beginning = { position: undefined, isComplete: false, left, inFlight: undefined };
        return send({ context, client, settings, options, deadlineAt, gate, stop, request, ...beginning });
      };
      const response = tracing ? traceCall(context, tracing, sendCall) : sendCall();
      const ended = this.#ended<Output>(response, context, { stop, caller: new Error() });
      client.underWay.set(stop, ended);
      return apiPromise(ended, ({ data, response: { status, headers, url } }) => {
        const { redactor } = client;
        const summary = { status, headers: redactor.headers(headers), url: redactor.string(url) };
        return { data, response: summary, attempts: context.attempts, queuedMs: context.queuedMs };
      });
    } catch (error) {
      this.#completeError(error, context);
      return rejected(showCaller(error));
    }
  }

  async #ended<Output>(
    response: Promise<ApiResponse>,
    context: CallContext,
    { stop, caller }: { stop: AbortController; caller: Error },
  ): Promise<ApiResponse & { readonly data: Output }> {
    try {
      // Safe: the endpoint has decoded the response.
      return (await response) as ApiResponse & { readonly data: Output };
    } catch (error) {
      this.#completeError(error, context);
      throw showCall(error, caller);
    } finally {
      this.client.underWay.delete(stop);
    }
  }

  /** Completes the error of a call: adds the request and the outcome of the call, and takes out the keys. */
  #completeError(error: unknown, context: CallContext): void {
    this.client.redactor.error(error);
    const { attempts: sent, outcome, uniqueIdentifier } = context;
    /* v8 ignore next -- @preserve a defect of our own, or an error of a row's isCurrent */
    if (isAudienceError(error) && !error.request)
      assignFacts(error, { outcome, request: { ...identityOf(context), attempts: sent }, uniqueIdentifier });
  }
}

/** The priority that options name. A wrong one is not read here: the schema of the options refuses it. */
function namedPriority(options: unknown): number | undefined {
  if (!isRecord(options) || !hasProperty(options, "priority")) return undefined;
  const parsed = optionTypes.priority.safeParse(options["priority"]);
  return parsed.success ? parsed.data : undefined;
}

/** The id of an event whose input is invalid. */
function inputIdentifier<Body>(
  { identifierOf }: Endpoint<Body, unknown>,
  { body }: EndpointInput,
): string | undefined {
  try {
    // Safe: only a string is returned, and errors are caught.
    const identifier: unknown = identifierOf?.(body as Body);
    return typeof identifier === "string" && identifier !== "" ? identifier : undefined;
  } catch {
    // The body is not an object: the validation error says so.
    return undefined;
  }
}
