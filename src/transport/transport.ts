import { isOnePersons } from "../consent.ts";
import type { Endpoint, EndpointInput } from "../endpoint.ts";
import { assignFacts } from "../error-facts.ts";
import { isAudienceError, RateLimitWaitError, ValidationError, type ValidationIssue } from "../errors.ts";
import { randomUuid } from "../runtime.ts";
import { validate } from "../schema/validate.ts";
import { mustBe } from "../values/in-words.ts";
import { withoutPrototype } from "../values/predicates.ts";
import type { FamilyAccess } from "./api-key.ts";
import { apiPromise, rejected, showCall, showCaller, type ApiPromise } from "./api-promise.ts";
import { attempts } from "./attempts.ts";
import { identityOf, type CallContext } from "./call-context.ts";
import { parseCallOptions, refuseHeader, type CallSettings } from "./call-options.ts";
import type { ApiResponse, Gate, PreparedCall, TransportSettings } from "./call.ts";
import { cancellable } from "./cancellation.ts";
import type { ClientState } from "./client-state.ts";
import { tellListeners } from "./consent-registry.ts";
import { traceCall } from "./tracing.ts";
import { inOrder } from "./write-order.ts";

/** Calls one family's endpoints, at once. An invalid call rejects, and never throws. */
export type CallEndpoint = <Body, Output>(
  endpoint: Endpoint<Body, Output>,
  input: EndpointInput,
  options: unknown,
) => ApiPromise<Output>;

/** What a prepared call is sent with; each goes before the call's own. */
export interface SendSettings extends Partial<Omit<CallSettings, "headers" | "given">> {
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
    return (endpoint, input, given) => {
      // Anything in the process may have changed what all objects inherit.
      Object.setPrototypeOf(endpoint, null);
      return this.start(endpoint, input, () => {
        const options = parseCallOptions(given, this.#settings.call, endpoint.options);
        this.refuseFullQueue(options);
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
  refuseFullQueue({ priority }: CallSettings): void {
    const full = this.client.limiter.current?.fullQueue(priority, this.#settings.maxQueued);
    if (!full) return;
    const { stackTraceLimit } = Error;
    Reflect.set(Error, "stackTraceLimit", 0);
    try {
      throw new RateLimitWaitError(full);
    } finally {
      Reflect.set(Error, "stackTraceLimit", stackTraceLimit);
    }
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
      const tracing = settings.callTracing?.hasSubscribers ? settings.callTracing : undefined;
      const prepared = tracing ? undefined : prepare();
      const stop = new AbortController();
      const run = () => {
        const request = prepared ?? prepare();
        const { options } = request;
        context.uniqueIdentifier = request.uniqueIdentifier;
        const deadlineAt = performance.now() + options.deadlineMs;
        const state = { position: undefined, isComplete: false, left: undefined, inFlight: undefined };
        return send({ context, client, settings, options, deadlineAt, gate, stop, request, ...state });
      };
      const response = tracing ? traceCall(context, tracing, run) : run();
      const ended = this.#ended<Output>(response, context, { stop, caller: new Error() });
      client.underWay.set(stop, ended);
      return apiPromise(ended, ({ data, response: { status, headers, url } }) => {
        const { redactor } = client;
        const summary = { status, headers: redactor.headers(headers), url: redactor.string(url) };
        return { data, response: summary, attempts: context.attempts, queuedMs: context.queuedMs };
      });
    } catch (error) {
      this.#complete(error, context);
      return rejected(showCaller(error));
    }
  }

  async #ended<Output>(
    response: Promise<ApiResponse>,
    context: CallContext,
    { stop, caller }: { stop: AbortController; caller: Error },
  ): Promise<ApiResponse & { readonly data: Output }> {
    try {
      // Safe: the endpoint has decoded it.
      return (await response) as ApiResponse & { readonly data: Output };
    } catch (error) {
      this.#complete(error, context);
      throw showCall(error, caller);
    } finally {
      this.client.underWay.delete(stop);
    }
  }

  /** Adds to the error of a call what is known of the call, and takes out the keys. */
  #complete(error: unknown, context: CallContext): void {
    this.client.redactor.error(error);
    const { attempts: sent, outcome, uniqueIdentifier } = context;
    /* v8 ignore next -- @preserve a defect of our own, or an error of a row's isCurrent */
    if (isAudienceError(error) && !error.request)
      assignFacts(error, { outcome, request: { ...identityOf(context), attempts: sent }, uniqueIdentifier });
  }
}

/** With what a call is prepared, beside its input. */
interface Preparation {
  readonly access: FamilyAccess;
  readonly options: CallSettings;
  readonly newEventId?: ((eventName: string) => string) | undefined;
}

/**
 * Validates the whole input, and sends nothing. Throws a `ConfigurationError`, or a `ValidationError` with every issue. The
 * endpoint has no prototype, as anything in the process may have changed that.
 */
export function prepareCall<Body, Output>(
  endpoint: Endpoint<Body, Output>,
  input: EndpointInput,
  { access, options, newEventId = randomUuid }: Preparation,
): PreparedCall {
  for (const own of Object.keys(access.headers)) refuseHeader(own, options.headers);
  const { method, path, query: querySchema } = endpoint;
  const { params = {}, query: givenQuery, body } = withoutPrototype(input);
  const issues: ValidationIssue[] = [];
  const filledPath = path.includes("{") ? fillPath(path, params, issues) : path;
  const query = querySchema && validate(querySchema, givenQuery, issues);
  const schema = typeof endpoint.body === "function" ? endpoint.body(options.given) : endpoint.body;
  const given = endpoint.read ? endpoint.read(body) : body;
  // Safe: without a schema Body is undefined.
  const valid = (schema && validate(schema, given, issues)) as Body;
  if (issues.length > 0) throw new ValidationError(issues);
  const sent = endpoint.complete ? endpoint.complete(valid, newEventId) : valid;
  const request = endpoint.request?.(sent) ?? { path: filledPath, query, body: sent };
  // Safe: the schema allows only strings, numbers and booleans, which become strings.
  const search = request.query ? String(new URLSearchParams(request.query as Record<string, string>)) : "";
  const contacts = (method !== "GET" && endpoint.contactsOf?.(sent)) || [];
  const consents = (method !== "GET" && endpoint.consentsOf?.(sent)) || [];
  return {
    // Safe: it gets only what its own schema has accepted.
    endpoint: endpoint as Endpoint<unknown, unknown>,
    access,
    options,
    params,
    sent,
    target: search === "" ? request.path : `${request.path}?${search}`,
    body: schema && JSON.stringify(request.body),
    uniqueIdentifier: endpoint.identifierOf?.(sent),
    isRepeatable: options.repeatable ?? endpoint.isRepeatable?.(sent) ?? method === "GET",
    contacts,
    consents: consents
      .filter(({ consent }) => consent.size > 0)
      .map((said) => ({ ...said, contacts: said.contacts.filter(isOnePersons) })),
  };
}

/** The id of an event whose input is invalid. */
function inputIdentifier<Body>(
  { identifierOf }: Endpoint<Body, unknown>,
  { body }: EndpointInput,
): string | undefined {
  try {
    // Safe: only a string is returned, and errors are caught.
    const given: unknown = identifierOf?.(body as Body);
    return typeof given === "string" && given !== "" ? given : undefined;
  } catch {
    // The body is not an object: the validation error says so.
    return undefined;
  }
}

function fillPath(
  template: string,
  params: Readonly<Record<string, unknown>>,
  issues: ValidationIssue[],
): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    const problem = problemOfId(value);
    if (problem === undefined) return encodeURIComponent(value as string);
    issues.push({
      path: [name],
      code: "invalid_id",
      message: `${problem}; pass the id as the service returned it`,
    });
    return "";
  });
}

function problemOfId(value: unknown): string | undefined {
  if (typeof value !== "string") return mustBe("a string", value);
  if (value.trim() === "") return "is empty";
  // Even percent-encoded, these two change the path ("Endpoints").
  if (value === "." || value === "..") return `${value} is not an id`;
  if (/\p{Surrogate}/u.test(value)) return "holds half a character";
  return undefined;
}
