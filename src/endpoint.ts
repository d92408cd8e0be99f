import type * as z from "zod";
import type { Consent, ConsentWrite } from "./consent.ts";

/** The names of the calls: `audience.v1.customers.upsert` is `"v1.customers.upsert"`. */
export type Operation =
  | "v1.customers.upsert"
  | "v1.customers.get"
  | "v1.customers.list"
  | "v1.contactGroups.list"
  | "v1.contactGroups.get"
  | "v1.contactGroups.addContact"
  | "v1.events.send"
  | "v2.contacts.upsert"
  | "v2.lists.list"
  | "v1.request"
  | "v2.request";

/** The HTTP method. Only a GET is a read. */
export type Method = (typeof methods)[number];

export const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** The input of a call: the values of the path's `{names}`, the query, the body. */
export interface EndpointInput {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: unknown;
  readonly body?: unknown;
}

/** A 2xx response. `body` is the parsed JSON; for an endpoint that accepts any response, else the string. */
export interface ParsedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** One endpoint of the service, as a value: its input, its output, and the effect of repeating it. */
export interface Endpoint<Body, Output> {
  readonly operation: Operation;
  readonly method: Method;
  /** The path's template, the family's version included: `/api/v1/customer/{id}` ("Versioning"). */
  readonly path: string;
  readonly query?: z.ZodType;
  /** The body's schema; a function if an option of the call decides it. */
  readonly body?: z.ZodType<Body> | ((options: { readonly consent?: unknown }) => z.ZodType<Body>);
  /** The schema of the call's options, if the endpoint adds its own. */
  readonly options?: z.ZodObject;
  /** Makes the body of what was given. It may throw a `ValidationError`. Default: the body was given. */
  readonly read?: (given: unknown) => unknown;
  /** The path, query and body to send, if the body's schema holds all three. */
  readonly request?: (body: Body) => { path: string; query: unknown; body: unknown };
  /** Adds values that must be the same in every attempt, such as an event's id. */
  readonly complete?: (body: Body, newId: (eventName: string) => string) => Body;
  /** The id that makes repeating the call safe, for its errors ("Custom event": `uniqueIdentifier`). */
  readonly identifierOf?: (body: Body) => string | undefined;
  /** Whether a write that is carried out twice leaves the same state. Default: no. */
  readonly isRepeatable?: (body: Body) => boolean;
  /** The keys of the contacts that the call writes to: writes to one contact leave in call order. */
  readonly contactsOf?: (body: unknown) => readonly string[];
  /** The consents that the call states; absent if it states none. Both are asked before the body is checked, too. */
  readonly consentsOf?: (body: unknown) => readonly ConsentWrite[];
  /** What the response adds to a write of consent: further keys of the contact, and the service's decision. */
  appliedTo?(output: Output, sent: Body): { contacts: readonly string[]; consent?: Consent };
  /** For the error of a 404: what may have been given instead of an id, and where the ids are shown. */
  readonly idHint?: string;
  /** Whether a 404 may have written all the same ("Endpoints", add-to-list, 6). Default: no. */
  readonly mayHaveWrittenOn404?: (body: Body) => boolean;
  /** The response is not documented: which bodies that are not JSON are a success. Default: none. */
  readonly acceptsText?: (contentType: string) => boolean;
  /** Decodes the response; throws `UndecodableResponse` if a required value is missing. */
  readonly decode: (response: ParsedResponse, sent: Body) => Output;
}
