import type { Endpoint, EndpointInput } from "../endpoint.ts";
import { ValidationError, type ValidationIssue } from "../errors.ts";
import { kindOf } from "../schema/kind-of.ts";
import { validate } from "../validate.ts";

/** A request but for its key, which is asked for anew before each attempt. Every attempt sends these very bytes. */
export interface PreparedRequest<Body> {
  /** The path and query, to be put behind a base URL. */
  readonly target: string;
  readonly body: string | undefined;
  /** What `body` holds, as the endpoint's schema read it. */
  readonly sent: Body;
}

/** Checks the whole input and builds what is sent, once. Throws a `ValidationError` that holds every problem. */
export function buildRequest<Body>(
  endpoint: Endpoint<Body, unknown>,
  input: EndpointInput,
  { options, newId }: { options: Readonly<Record<string, unknown>>; newId: () => string },
): PreparedRequest<Body> {
  const issues: ValidationIssue[] = [];
  const path = fillPath(endpoint.path, input.params ?? {}, issues);
  const { query: querySchema } = endpoint;
  const query = querySchema && collect(issues, () => toQuery(validate(querySchema, input.query)));
  const schema = typeof endpoint.body === "function" ? endpoint.body(options) : endpoint.body;
  const checked = schema && collect(issues, () => validate(schema, input.body));
  if (issues.length > 0) throw new ValidationError(issues);
  // Without a schema an endpoint has no body, and Body is undefined; with one and no issue, `checked` is its output.
  const sent = checked as Body;
  const complete = endpoint.complete ? endpoint.complete(sent, newId) : sent;
  return {
    target: query ? `${path}?${query}` : path,
    body: schema && JSON.stringify(complete),
    sent: complete,
  };
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
  // Its schema has found texts and numbers.
  for (const [name, value] of Object.entries(query as Record<string, string | number>))
    search.set(name, String(value));
  return search.toString();
}
