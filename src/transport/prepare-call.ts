import { isOnePersons } from "../contact-keys.ts";
import type { Endpoint, EndpointInput } from "../endpoint.ts";
import { ValidationError, type ValidationIssue } from "../errors.ts";
import { randomUuid } from "../runtime.ts";
import { validate } from "../schema/validate.ts";
import { mustBe } from "../values/in-words.ts";
import { withoutPrototype } from "../values/predicates.ts";
import type { FamilyAccess } from "./api-key.ts";
import { refuseHeader, type CallSettings } from "./call-options.ts";
import type { PreparedCall } from "./call.ts";

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
