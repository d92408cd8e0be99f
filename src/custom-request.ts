import * as z from "zod";
import { optInStates, unknownConsent } from "./consent.ts";
import { contactKeys, type Fields, ownFields } from "./contact-keys.ts";
import { methods, type Endpoint } from "./endpoint.ts";
import { jsonValue, emailAddress, nonBlankString } from "./schema/formats.ts";
import { besideOtherIssues, unknownKeys } from "./schema/validate.ts";
import type { ApiPromise } from "./transport/api-promise.ts";
import { addContactOptionsSchema, type AddContactOptions } from "./transport/call-options.ts";
import type { CallEndpoint } from "./transport/transport.ts";
import { addContact } from "./v1/contact-groups.ts";
import { upsertCustomer } from "./v1/customers.ts";
import { upsertContact } from "./v2/contacts.ts";
import { hasOwn } from "./values/predicates.ts";

/** A request that no method of this package makes: a new path, or a new field of a known one. */
export interface CustomRequest {
  /** The HTTP method. After a lost response a GET is retried, and another method only with the option `repeatable: true`. */
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path within the family, `/api/v1/…` or `/v2/…`, with ids encoded by `encodeURIComponent`. */
  path: string;
  /** The query. */
  query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  /** The body, sent as JSON. */
  body?: unknown;
  /**
   * The contact that a write changes, by every name that you know, at least one; `contactUUID` is the `id` of a profile. It
   * is not sent. By it the request takes part in the order of writes, and in `superseded` of `bulk`, where its consent
   * counts as unknown. The body and the response are not read for it, except those of a POST to `/customer/create` and to
   * `/contact-groups/{id}/contacts`, which are documented.
   */
  contact?:
    | { email?: string | undefined; phone?: string | undefined; contactUUID?: string | undefined }
    | undefined;
}

/** The options of a custom request. */
export interface CustomRequestOptions extends AddContactOptions {}

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

export function customRequest(call: CallEndpoint, operation: CustomOperation): SendCustomRequest {
  return (request, options) => call(customEndpoint(operation, request), { body: request }, options);
}

type CustomOperation = "v1.request" | "v2.request";

/** The path of a documented write. A server may not mind the case, and may take `.json` for a format, the rest for a query. */
const documentedPath =
  /^\/(api\/v1\/customer\/create|api\/v1\/contact-groups\/.+\/contacts|v2\/contacts)[\s/]*([.?#].*)?$/is;

/** The documented write that a request is, by its method and path: then its body and its response are read. */
function documentedWrite({ method, path }: Fields) {
  if (method !== "POST" || typeof path !== "string") return undefined;
  const writePath = documentedPath.exec(decodedPath(path))?.[1];
  if (writePath === undefined) return undefined;
  if (/^v2/i.test(writePath)) return upsertContact;
  return /create$/i.test(writePath) ? upsertCustomer : addContact;
}

/**
 * A path as servers and proxies in a row may read it: decoded until nothing changes, with one kind of slash, without
 * parameters (`;a=1`). Byte by byte, as what is judged is ASCII, and a path need not be UTF-8.
 */
function decodedPath(path: string): string {
  // An encoded percent sign may have been encoded any number of times.
  const read = path.replaceAll(/%(?:25)*([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)),
  );
  return read === path ? read.replaceAll("\\", "/").replaceAll(/(?<=[^/]);[^/]*/g, "") : decodedPath(read);
}

/** `request` may still be anything: its schema refuses what is no request. */
export function customEndpoint(
  operation: CustomOperation,
  request: unknown,
): Endpoint<CustomRequest, unknown> {
  const { prefix, schema, withConsentSchema } = requestFamilies[operation];
  const fields = ownFields(request);
  const documented = documentedWrite(fields);
  const bodyOf = (body: unknown) => (documented ? ownFields(body)["body"] : undefined);
  const namedKeys = (body: unknown) => contactKeys([ownFields(body)["contact"]]);
  const writtenKeys = (body: unknown) => documented?.contactsOf?.(bodyOf(body)) ?? [];
  return {
    operation,
    // The schema refuses any other method.
    method: methods.find((method) => method === fields["method"]) ?? "GET",
    // The real path may name a person.
    path: `${prefix}…`,
    options: addContactOptionsSchema,
    body: ({ consent }) =>
      documented === addContact && consent !== "service-decides" ? withConsentSchema : schema,
    request: ({ path, query, body }) => ({ path, query, body }),
    contactsOf: (body) => [...new Set([...namedKeys(body), ...writtenKeys(body)])],
    consentsOf(body) {
      const consents = documented?.consentsOf?.(bodyOf(body)) ?? [];
      const contacts = namedKeys(body);
      if (consents.length > 0)
        return consents.map((each) => ({ ...each, contacts: [...new Set([...contacts, ...each.contacts])] }));
      return ownFields(body)["contact"] ? [{ contacts, consent: unknownConsent }] : [];
    },
    appliedTo(response) {
      const { contact, data } = ownFields(response);
      const created = { contactUUID: ownFields(data)["id"] };
      const received = documented === addContact ? contact : documented === upsertCustomer && created;
      return { contacts: contactKeys([received]) };
    },
    mayHaveWrittenOn404: () => documented === addContact,
    // JSON that breaks off was not read, and HTML comes from a gateway.
    acceptsText: (contentType) => !/json|html/i.test(contentType),
    decode: ({ body }) => body,
  };
}

const customContactSchema = z
  .strictObject(
    {
      email: emailAddress().optional(),
      phone: z
        .string()
        .regex(/\p{Nd}/u, "must hold a digit")
        .optional(),
      contactUUID: nonBlankString.optional(),
    },
    { error: unknownKeys("unknown key: a contact is named by email, phone and contactUUID") },
  )
  .refine((contact) => (["email", "phone", "contactUUID"] as const).some((name) => hasOwn(contact, name)), {
    error: "required: an email, a phone or a contactUUID",
    ...besideOtherIssues,
  });

function requestFamily(prefix: string) {
  const schema: z.ZodType<CustomRequest> = z
    .strictObject(
      {
        method: z.enum(methods),
        path: z.string().check(({ value: path, issues }) => {
          const message = problemOfPath(path, prefix);
          if (message) issues.push({ code: "custom", message, input: path });
        }),
        query: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
        body: jsonValue.optional(),
        contact: customContactSchema.optional(),
      },
      {
        error: unknownKeys(
          "unknown key: a request has method, path, query, body and contact; options are the second argument",
        ),
      },
    )
    .refine((request) => request.method !== "GET" || !hasOwn(request, "body"), {
      path: ["body"],
      error: "must be left out: a GET has no body",
      ...besideOtherIssues,
    });
  const withConsentSchema = schema.refine(
    ({ body }) => optInStates.some((state) => state === ownFields(body)["email_opt_in"]),
    {
      path: ["body", "email_opt_in"],
      error:
        'required, as SUBSCRIBED, NON_SUBSCRIBED or UNSUBSCRIBED: without it the service subscribes an existing contact again; to leave it to the service, give the option { consent: "service-decides" }',
      ...besideOtherIssues,
    },
  );
  return { prefix, schema, withConsentSchema };
}

const requestFamilies = { "v1.request": requestFamily("/api/v1/"), "v2.request": requestFamily("/v2/") };

function problemOfPath(path: string, prefix: string): string | undefined {
  if (!path.startsWith(prefix)) return `must begin with ${prefix}`;
  if (/[?#]/.test(path))
    return "must hold no ? or #: give the query in `query`, and encode an id with encodeURIComponent";
  if (!/^[\w!$%&'()*+,;=:@~./-]*$/.test(path)) {
    return "holds a character that no path can carry: encode an id with encodeURIComponent";
  }
  const readPath = decodedPath(path);
  if (/\p{Cc}/u.test(readPath)) return "must hold no control character, encoded or not";
  if (/\/\s*\.{1,2}\s*(\/|$)/.test(readPath)) return "must not hold . or .. as a segment, encoded or not";
  if (path.includes("//")) return "must not hold an empty segment";
  return undefined;
}
