import type * as z from "zod";
import type { Consent } from "./consent.ts";

/** The nine calls, named as they are written: `audience.v1.customers.upsert` is `"v1.customers.upsert"`. */
export type Operation =
  | "v1.customers.upsert"
  | "v1.customers.get"
  | "v1.customers.list"
  | "v1.contactGroups.list"
  | "v1.contactGroups.get"
  | "v1.contactGroups.addContact"
  | "v1.events.send"
  | "v2.contacts.upsert"
  | "v2.lists.list";

/** What a call hands to its endpoint: the values of the path's `{names}`, the query, the body. */
export interface EndpointInput {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: unknown;
  readonly body?: unknown;
}

/** A 2xx answer. `body` is the parsed JSON; the text, where the endpoint reads any answer and this one is no JSON. */
export interface ParsedResponse {
  readonly status: number;
  readonly body: unknown;
}

/** One endpoint of the service, as a value: what it takes, what it gives, and what repeating it would do. */
export interface Endpoint<Body, Output> {
  readonly operation: Operation;
  readonly method: "GET" | "POST";
  /** The path's template, the family's version included: `/api/v1/customer/{id}` ("Versioning"). */
  readonly path: string;
  readonly query?: z.ZodType;
  /** The body's schema; a function, where an option of the call decides it. */
  readonly body?: z.ZodType<Body> | ((options: Readonly<Record<string, unknown>>) => z.ZodType<Body>);
  /** The options of a call, where this endpoint has some of its own. */
  readonly options?: z.ZodObject;
  /** Fills in what must be the same in every attempt, such as an event's id. */
  readonly complete?: (body: Body, newId: () => string) => Body;
  /** The id that makes repeating the call safe, for its errors ("Custom event": `uniqueIdentifier`). */
  readonly identifierOf?: (body: Body) => string | undefined;
  /** Whether the service ends in the same state when a write is carried out twice. Unless it says so, it does not. */
  readonly isRepeatable?: (body: Body) => boolean;
  /** The contacts that the call writes to, each named once: writes to one contact leave in call order. */
  readonly contactsOf?: (body: Body) => readonly string[];
  /** The consent that the call states; undefined for a call that carries none. */
  readonly consentOf?: (body: Body) => Consent;
  /** What the answer adds to a write of consent: further names of the contact, and what the service decided. */
  appliedTo?(output: Output, sent: Body): { contacts: readonly string[]; consent?: Consent };
  /** The documented 404 that may have written all the same ("Endpoints", add-to-list, 6). */
  readonly mayHaveWrittenOn404?: true;
  /** The answer is not documented, so that any 2xx is a success. */
  readonly acceptsAnyResponse?: true;
  /** The answer's value; throws `UnreadableAnswer` where something needed is missing. */
  readonly decode: (response: ParsedResponse, sent: Body) => Output;
}
