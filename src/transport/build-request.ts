import { isOnePersons } from "../consent.ts";
import type { Endpoint, EndpointInput } from "../endpoint.ts";
import { ValidationError, type ValidationIssue } from "../errors.ts";
import { validate } from "../validate.ts";
import { mustBe } from "../values/kind-of.ts";
import type { ApiRequest } from "./call.ts";

/** Validates the whole input and builds the request. Throws a `ValidationError` with every issue. */
export function buildRequest<Body, Output>(
  endpoint: Endpoint<Body, Output>,
  input: EndpointInput,
  { options, newId }: { options: Readonly<Record<string, unknown>>; newId: (eventName: string) => string },
): ApiRequest {
  const { method, path, query: querySchema } = endpoint;
  const issues: ValidationIssue[] = [];
  const { params = {} } = input;
  const filledPath = fillPath(path, params, issues);
  const query = querySchema && validate(querySchema, input.query, issues);
  const schema = typeof endpoint.body === "function" ? endpoint.body(options) : endpoint.body;
  // Safe: without a schema Body is undefined.
  const valid = (schema && validate(schema, input.body, issues)) as Body;
  if (issues.length > 0) throw new ValidationError(issues);
  const sent = endpoint.complete ? endpoint.complete(valid, newId) : valid;
  const request = endpoint.request?.(sent) ?? { path: filledPath, query, body: sent };
  const contacts = (method !== "GET" && endpoint.contactsOf?.(sent)) || [];
  const consent = endpoint.consentOf?.(sent);
  return {
    method,
    path,
    target: withQuery(request),
    body: schema && JSON.stringify(request.body),
    uniqueIdentifier: endpoint.identifierOf?.(sent),
    isRepeatable: endpoint.isRepeatable?.(sent) ?? method === "GET",
    contacts,
    consentWrite:
      consent && method !== "GET" ? { contacts: contacts.filter(isOnePersons), consent } : undefined,
    appliedConsent(stated, data) {
      // Safe: the value that `decode` returned.
      const more = endpoint.appliedTo?.(data as Output, sent);
      return {
        ...stated,
        contacts: [...new Set([...stated.contacts, ...(more?.contacts ?? []).filter(isOnePersons)])],
        consent: more?.consent ?? stated.consent,
      };
    },
    acceptsText: endpoint.acceptsText,
    pathId: endpoint.idHint ? { id: String(Object.values(params)[0]), hint: endpoint.idHint } : undefined,
    mayHaveWrittenOn404: endpoint.mayHaveWrittenOn404?.(sent) ?? false,
    decode: (parsed) => endpoint.decode(parsed, sent),
  };
}

/** The id of an event whose input is invalid. */
export function inputIdentifier<Body>(
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

function withQuery({ path, query }: { path: string; query: unknown }): string {
  // Safe: the schema allows only strings, numbers and booleans, which become strings.
  const search = new URLSearchParams(query as Record<string, string> | undefined).toString();
  return search === "" ? path : `${path}?${search}`;
}
