import * as z from "zod";
import type { Endpoint, Operation } from "./endpoint.ts";
import { besideOtherIssues } from "./schema/issues.ts";
import { jsonValue } from "./schema/json.ts";
import { isRecord } from "./schema/kind-of.ts";
import type { ApiPromise } from "./transport/api-promise.ts";
import { callOptionsSchema, consentOption, type CallOptions } from "./transport/call-options.ts";
import { contactKeys, decidedByService, v1Consent, v2Consent, type Consent } from "./transport/contact.ts";
import type { CallEndpoint } from "./transport/transport.ts";

/** A request that no method of this package makes: a new path, or a new field of a known one. */
export interface CustomRequest {
  /** The HTTP method. A GET is repeatable; any other only with the option `repeatable: true`. */
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path within the family, `/api/v1/…` or `/v2/…`, with ids encoded by `encodeURIComponent`. */
  path: string;
  /** The query. */
  query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  /** The body, sent as JSON. */
  body?: unknown;
}

/** The options of a custom request. */
export interface CustomRequestOptions extends CallOptions {
  /** Leaves the e-mail consent of a contact that is added to a list to the service ("States and transitions"). */
  consent?: "service-decides" | undefined;
}

/** Sends a request that no method of this package makes, and resolves to the parsed body of the response. */
export type SendCustomRequest = (
  request: CustomRequest,
  options?: CustomRequestOptions,
) => ApiPromise<unknown>;

interface Family {
  readonly operation: Operation;
  /** The beginning of its paths. */
  readonly prefix: "/api/v1/" | "/v2/";
}

export function customRequest(call: CallEndpoint, family: Family): SendCustomRequest {
  return (request, options) => call(endpointOf(family, request), { body: request }, options);
}

const addContactPath = /^\/api\/v1\/contact-groups\/[^/]+\/contacts\/?$/;

const isAddContact = ({ method, path }: CustomRequest): boolean =>
  method === "POST" && addContactPath.test(path);

const optionsSchema = callOptionsSchema.extend({ consent: consentOption });

function endpointOf({ operation, prefix }: Family, request: CustomRequest): Endpoint<CustomRequest, unknown> {
  const { method } = Object(request) as Partial<CustomRequest>;
  return {
    operation,
    // The schema refuses any other.
    method: methods.find((one) => one === method) ?? "GET",
    // The real path may name a person.
    path: `${prefix}…`,
    options: optionsSchema,
    body: ({ consent }) => requestSchema(prefix, consent !== "service-decides"),
    target: ({ path, query }) =>
      query ? `${path}?${new URLSearchParams(stringsOf(query)).toString()}` : path,
    payload: ({ body }) => body,
    contactsOf: ({ body }) => contactKeys(contactsIn(body)),
    consentOf: (sent) => ({
      ...(isAddContact(sent) && { email: decidedByService }),
      ...consentIn(sent.body),
    }),
    mayHaveWrittenOn404: isAddContact,
    acceptsAnyResponse: true,
    decode: ({ body }) => body,
  };
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

function requestSchema(prefix: string, needsConsent: boolean): z.ZodType<CustomRequest> {
  return z
    .strictObject({
      method: z.enum(methods),
      path: z.string().check(({ value, issues }) => {
        const problem = problemOfPath(value, prefix);
        if (problem) issues.push({ code: "custom", message: problem, input: value });
      }),
      query: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
      body: jsonValue.optional(),
    })
    .refine(({ method, body }) => method !== "GET" || body === undefined, {
      path: ["body"],
      error: "must be left out: a GET has no body",
      ...besideOtherIssues,
    })
    .refine((request) => !needsConsent || !isAddContact(request) || statesEmailConsent(request.body), {
      path: ["body", "email_opt_in"],
      error:
        'required: without it the service subscribes an existing contact again; to leave it to the service, give the option { consent: "service-decides" }',
      ...besideOtherIssues,
    });
}

function problemOfPath(path: string, prefix: string): string | undefined {
  if (!path.startsWith(prefix)) return `must begin with ${prefix}`;
  if (/[?#]/.test(path))
    return "must hold no ? or #: give the query in `query`, and encode an id with encodeURIComponent";
  if (!/^[\w!$%&'()*+,;=:@~./-]*$/.test(path)) {
    return "holds a character that no path can carry: encode an id with encodeURIComponent";
  }
  if (/\/(\.|%2e){1,2}(\/|$)/i.test(path)) return "must not hold . or .. as a segment";
  return undefined;
}

function statesEmailConsent(body: unknown): boolean {
  return isRecord(body) && body["email_opt_in"] !== undefined;
}

function stringsOf(query: NonNullable<CustomRequest["query"]>): [string, string][] {
  return Object.entries(query).map(([name, value]) => [name, String(value)]);
}

/** The contacts that a body names: at its root, in `contact`, in `identifiers`. */
function contactsIn(body: unknown): Readonly<Record<string, unknown>>[] {
  if (!isRecord(body)) return [];
  const identifiers = identifiersIn(body).map(({ type, id }) => ({ [String(type)]: id }));
  return [body, body["contact"], ...identifiers].filter(isRecord);
}

function consentIn(body: unknown): Consent {
  if (!isRecord(body)) return {};
  return {
    ...v1Consent(body),
    ...(isRecord(body["contact"]) && v1Consent(body["contact"])),
    ...v2Consent(
      identifiersIn(body).map(({ channels }) => ({ channels: isRecord(channels) ? channels : {} })),
    ),
  };
}

function identifiersIn({
  identifiers,
}: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>[] {
  return Array.isArray(identifiers) ? identifiers.filter(isRecord) : [];
}
