import type { Endpoint, EndpointInput, ParsedResponse } from "../endpoint.ts";
import { ValidationError, type ValidationIssue } from "../errors.ts";
import { kindOf } from "../schema/kind-of.ts";
import { validate } from "../validate.ts";
import type { ConsentWrite } from "./consent.ts";

/** A request but for its key, which is asked for anew before each attempt. Every attempt sends these very bytes. */
export interface ApiRequest {
  readonly method: "GET" | "POST";
  /** The endpoint's template, for messages: an id in the real one may be an e-mail address. */
  readonly path: string;
  /** The path and query, to be put behind a base URL. */
  readonly target: string;
  readonly body: string | undefined;
  readonly uniqueIdentifier: string | undefined;
  /** Whether the service ends in the same state when the call is carried out twice. */
  readonly isRepeatable: boolean;
  /** The names of the contacts that it writes to. */
  readonly contacts: readonly string[];
  /** The consent that it writes, and of whom; undefined for a call that carries none. */
  readonly consentWrite: ConsentWrite | undefined;
  /** That consent, with what the response adds to it. */
  readonly appliedConsent: (stated: ConsentWrite, data: unknown) => ConsentWrite;
  readonly acceptsAnyResponse: boolean;
  readonly mayHaveWrittenOn404: boolean;
  /** The response's value; throws `UndecodableResponse` where something needed is missing. */
  readonly decode: (parsed: ParsedResponse) => unknown;
}

/** Validates the whole input and builds the request, once. Throws a `ValidationError` that holds every problem. */
export function buildRequest<Body, Output>(
  endpoint: Endpoint<Body, Output>,
  input: EndpointInput,
  { options, newId }: { options: Readonly<Record<string, unknown>>; newId: () => string },
): ApiRequest {
  const { method, path, query: querySchema } = endpoint;
  const issues: ValidationIssue[] = [];
  const filledPath = fillPath(path, input.params ?? {}, issues);
  const query = querySchema && collect(issues, () => toQuery(validate(querySchema, input.query)));
  const schema = typeof endpoint.body === "function" ? endpoint.body(options) : endpoint.body;
  const checked = schema && collect(issues, () => validate(schema, input.body));
  if (issues.length > 0) throw new ValidationError(issues);
  // Safe: without a schema an endpoint has no body, and Body is undefined; with one and no issue, it is its output.
  const valid = checked as Body;
  const sent = endpoint.complete ? endpoint.complete(valid, newId) : valid;
  const contacts = endpoint.contactsOf?.(sent) ?? [];
  const consent = endpoint.consentOf?.(sent);
  return {
    method,
    path,
    target: query ? `${filledPath}?${query}` : filledPath,
    body: schema && JSON.stringify(sent),
    uniqueIdentifier: endpoint.identifierOf?.(sent),
    isRepeatable: endpoint.isRepeatable?.(sent) ?? method === "GET",
    contacts,
    consentWrite: consent && { contacts, consent },
    appliedConsent(stated, data) {
      // Safe: the value that `decode` gave.
      const more = endpoint.appliedTo?.(data as Output, sent);
      return {
        contacts: [...stated.contacts, ...(more?.contacts ?? [])],
        consent: more?.consent ?? stated.consent,
      };
    },
    acceptsAnyResponse: endpoint.acceptsAnyResponse === true,
    mayHaveWrittenOn404: endpoint.mayHaveWrittenOn404 === true,
    decode: (parsed) => endpoint.decode(parsed, sent),
  };
}

/** An event's own id, where its input was refused: whatever the input is, it is only looked at. */
export function inputIdentifier<Body>(
  { identifierOf }: Endpoint<Body, unknown>,
  { body }: EndpointInput,
): string | undefined {
  try {
    // Safe: what is no string is not taken, and what cannot be read says nothing.
    const given: unknown = identifierOf?.(body as Body);
    return typeof given === "string" && given !== "" ? given : undefined;
  } catch {
    // No object: the validation error says so.
    return undefined;
  }
}

function collect<T>(issues: ValidationIssue[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    /* v8 ignore next -- @preserve a defect of our own */
    if (!(error instanceof ValidationError)) throw error;
    // One by one: as arguments of one call, a hundred thousand would overflow the stack.
    for (const issue of error.issues) issues.push(issue);
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
      message: `${problem}; give the id as the service gave it`,
    });
    return "";
  });
}

function problemOfId(value: unknown): string | undefined {
  if (typeof value !== "string") return `must be a string, not ${kindOf(value)}`;
  if (value.trim() === "") return "is empty";
  // Even percent-encoded, these two change the path ("Endpoints").
  if (value === "." || value === "..") return `${value} is not an id`;
  if (/\p{Surrogate}/u.test(value)) return "holds half a character";
  return undefined;
}

function toQuery(query: unknown): string {
  const search = new URLSearchParams();
  // Safe: its schema has found strings and numbers.
  for (const [name, value] of Object.entries(query as Record<string, string | number>))
    search.set(name, String(value));
  return search.toString();
}
