import * as z from "zod";
import { contactKeys, decidedByService, v1Consent, v2Consent, type Consent } from "./consent.ts";
import type { Endpoint, Method, Operation } from "./endpoint.ts";
import { jsonValue } from "./schema/copy-as-json.ts";
import { isRecord } from "./schema/kind-of.ts";
import { besideOtherIssues, unknownKeys } from "./schema/validation-issues.ts";
import type { ApiPromise } from "./transport/api-promise.ts";
import { callOptionsSchema, consentOption, type CallOptions } from "./transport/call-options.ts";
import type { CallEndpoint } from "./transport/transport.ts";
import { v1ConsentedListContactSchema } from "./v1/schemas/contact.ts";

/** A request that no method of this package makes: a new path, or a new field of a known one. */
export interface CustomRequest {
  /** The HTTP method. After a lost response a GET is retried, and another method only with the option `repeatable: true`. */
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path within the family, `/api/v1/…` or `/v2/…`, with ids encoded by `encodeURIComponent`. */
  path: string;
  /** The query. */
  query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  /**
   * The body, sent as JSON. A contact that it names, at its root, in `contact` or in `identifiers`, takes part in the order
   * of writes and in `superseded` of `bulk`.
   */
  body?: unknown;
}

/** The options of a custom request. */
export interface CustomRequestOptions extends CallOptions {
  /** Leaves the e-mail consent of a contact that is added to a list to the service ("States and transitions"). */
  consent?: "service-decides" | undefined;
}

/**
 * Sends a request that no method of this package makes. Resolves to the body of the response: parsed if it is JSON, or else its
 * text.
 *
 * @throws {ValidationError} if the method, the path, the query or the body is wrong. A contact that is added to a list needs its
 *   e-mail consent.
 * @throws {UnexpectedResponseError} if the body is HTML, or says that it is JSON and is not: the call may have taken effect.
 */
export type SendCustomRequest = (
  request: CustomRequest,
  options?: CustomRequestOptions,
) => ApiPromise<unknown>;

/** `prefix`: the beginning of the family's paths. */
export function customRequest(call: CallEndpoint, operation: Operation, prefix: string): SendCustomRequest {
  return (request, options) => call(endpointOf(operation, prefix, request), { body: request }, options);
}

const addContactPath = /^\/api\/v1\/contact-groups\/.+\/contacts\/?$/i;
/** An id holds a digit, and a word of a path none: `/customer/create` names no contact. */
const customerPath = /^\/api\/v1\/customer\/([^/]*\d[^/]*)/i;

function isAddContact({ method, path }: CustomRequest): boolean {
  return method === "POST" && addContactPath.test(decoded(path));
}

/** As a server may read a path: percent-encoding decoded, without path parameters (`;a=1`). */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path).replaceAll(/;[^/]*/g, "");
  } catch {
    return path;
  }
}

function endpointOf(
  operation: Operation,
  prefix: string,
  request: CustomRequest,
): Endpoint<CustomRequest, unknown> {
  return {
    operation,
    method: methodOf(request),
    // The real path may name a person.
    path: `${prefix}…`,
    options: callOptionsSchema.extend({ consent: consentOption }),
    body: ({ consent }) => requestSchema(prefix, consent !== "service-decides"),
    request: ({ path, query, body }) => ({ path, query, body }),
    contactsOf: ({ path, body }) => {
      const [, contactUUID] = customerPath.exec(decoded(path)) ?? [];
      return contactKeys([...contactsIn(body), { contactUUID }]);
    },
    consentOf: (sent) => ({
      ...(isAddContact(sent) && { email: decidedByService }),
      ...consentIn(sent.body),
    }),
    appliedTo: (output) => ({ contacts: contactKeys(contactsInResponse(output)) }),
    mayHaveWrittenOn404: isAddContact,
    // JSON that breaks off was not read, and HTML comes from a gateway.
    acceptsText: (contentType) => !/json|html/i.test(contentType),
    decode: ({ body }) => body,
  };
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** The schema refuses any other method, and a request that is not an object. */
function methodOf(request: CustomRequest): Method {
  return methods.find((method) => method === request?.method) ?? "GET";
}

function requestSchema(prefix: string, needsConsent: boolean): z.ZodType<CustomRequest> {
  return z
    .strictObject(
      {
        method: z.enum(methods),
        path: z.string().check(({ value, issues }) => {
          const problem = problemOfPath(value, prefix);
          if (problem) issues.push({ code: "custom", message: problem, input: value });
        }),
        query: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
        body: jsonValue.optional(),
      },
      {
        error: unknownKeys(
          "unknown key: a request has method, path, query and body; options are the second argument",
        ),
      },
    )
    .refine(({ method, body }) => method !== "GET" || body === undefined, {
      path: ["body"],
      error: "must be left out: a GET has no body",
      ...besideOtherIssues,
    })
    .refine((request) => !needsConsent || !isAddContact(request) || statesEmailConsent(request.body), {
      path: ["body", "email_opt_in"],
      error:
        'required, as SUBSCRIBED, NON_SUBSCRIBED or UNSUBSCRIBED: without it the service subscribes an existing contact again; to leave it to the service, give the option { consent: "service-decides" }',
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
  if (/\/(\.|%2e){1,2}(\/|%2f|;|$)/i.test(path)) return "must not hold . or .. as a segment";
  if (path.includes("//")) return "must not hold an empty segment";
  return undefined;
}

function statesEmailConsent(body: unknown): boolean {
  return (
    isRecord(body) && v1ConsentedListContactSchema.shape.email_opt_in.safeParse(body["email_opt_in"]).success
  );
}

/** The contacts that a body names: at its root, in `contact`, in `identifiers`. */
function contactsIn(body: unknown): Readonly<Record<string, unknown>>[] {
  if (!isRecord(body)) return [];
  const identifiers = identifiersIn(body).map(({ type, id }) =>
    typeof type === "string" ? { [type]: id } : {},
  );
  return [body, body["contact"], ...identifiers].filter(isRecord);
}

/** The contact that a response names, where the documented ones name it: as a profile, or in `contact`. */
function contactsInResponse(output: unknown): Readonly<Record<string, unknown>>[] {
  const { data, contact } = Object(output) as Record<string, unknown>;
  const { id, attributes } = Object(data) as Record<string, unknown>;
  return [{ contactUUID: id }, attributes, contact].filter(isRecord);
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
