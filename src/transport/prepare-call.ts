import { isOnePersons } from "../contact-keys.ts";
import type { Endpoint, EndpointInput } from "../endpoint.ts";
import { ValidationError, type ValidationIssue } from "../errors.ts";
import { randomUuid } from "../runtime.ts";
import { validate } from "../schema/validate.ts";
import { mustBe } from "../values/in-words.ts";
import { withoutPrototype } from "../values/predicates.ts";
import { refuseHeader } from "./call-options.ts";
import type { PreparedCall } from "./call.ts";

/**
 * Validates the whole input, and sends nothing. Throws a `ConfigurationError`, or a `ValidationError` with every issue. The
 * endpoint has no prototype, as anything in the process may have changed that.
 */
export function prepareCall<Body, Output>(
  endpoint: Endpoint<Body, Output>,
  input: EndpointInput,
  { access, options }: Pick<PreparedCall, "access" | "options">,
  newEventId: (eventName: string) => string = randomUuid,
): PreparedCall {
  for (const header of Object.keys(access.headers)) refuseHeader(header, options.headers);
  const { method, path, query: querySchema } = endpoint;
  const { params = {}, query: givenQuery, body } = withoutPrototype(input);
  const issues: ValidationIssue[] = [];
  const filledPath = path.includes("{") ? fillPath(path, params, issues) : path;
  const query = querySchema && validate(querySchema, givenQuery, issues);
  const schema = typeof endpoint.body === "function" ? endpoint.body(options) : endpoint.body;
  const givenBody = endpoint.read ? endpoint.read(body) : body;
  // Safe: without a schema Body is undefined.
  const validBody = (schema && validate(schema, givenBody, issues)) as Body;
  if (issues.length > 0) throw new ValidationError(issues);
  const sent = endpoint.complete ? endpoint.complete(validBody, newEventId) : validBody;
  const request = endpoint.request?.(sent) ?? { path: filledPath, query, body: sent };
  // Safe: the schema allows only strings, numbers and booleans, which become strings.
  const search = request.query ? String(new URLSearchParams(request.query as Record<string, string>)) : "";
  const contacts = (method !== "GET" && endpoint.contactsOf?.(sent)) || [];
  const consents = (method !== "GET" && endpoint.consentsOf?.(sent)) || [];
  return {
    // Safe: the endpoint gets only what its own schema has accepted.
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
    consents: consents.map((write) => ({ ...write, contacts: write.contacts.filter(isOnePersons) })),
  };
}

function fillPath(
  template: string,
  params: Readonly<Record<string, unknown>>,
  issues: ValidationIssue[],
): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const id = params[name];
    const problem = problemOfId(id);
    if (problem === undefined) return encodeURIComponent(id as string);
    issues.push({
      path: [name],
      code: "invalid_id",
      message: `${problem}; pass the id as the service returned it`,
    });
    return "";
  });
}

function problemOfId(id: unknown): string | undefined {
  if (typeof id !== "string") return mustBe("a string", id);
  if (id.trim() === "") return "is empty";
  // Even percent-encoded, these two ids change the path ("Endpoints").
  if (id === "." || id === "..") return `${id} is not an id`;
  if (/\p{Surrogate}/u.test(id)) return "holds half a character";
  return undefined;
}
