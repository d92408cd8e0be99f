import * as z from "zod";
import { v2ConsentWrites } from "../consent.ts";
import { v2ContactKeys } from "../contact-keys.ts";
import type { Endpoint } from "../endpoint.ts";
import { jsonValue, dateTime, day, dayOrDateTime, ipAddress, problemOfEmail } from "../schema/formats.ts";
import { parseResponse } from "../schema/response-values.ts";
import { besideOtherIssues } from "../schema/validate.ts";
import type { ApiPromise } from "../transport/api-promise.ts";
import type { CallOptions } from "../transport/call-options.ts";
import type { CallEndpoint } from "../transport/transport.ts";
import { givenInstead, sameName } from "../values/in-words.ts";
import { hasOwn, isRecord } from "../values/predicates.ts";

/** A v2 contact, the input of `v2.contacts.upsert` ("v2 contact", "v2 identifier object"). Other keys are passed on. */
export type V2Contact = {
  /** First name. */
  firstName: string;
  /** Last name. */
  lastName?: string | undefined;
  /** Day of birth, `YYYY-MM-DD`. No `Date`, because it has a time zone. */
  birthDate?: string | undefined;
  /** Name of the city. */
  city?: string | undefined;
  /** Two letters, in any case. */
  countryCode?: string | undefined;
  /** Full name of the country. */
  country?: string | undefined;
  /** Code of the province or state. */
  provinceCode?: string | undefined;
  /** Full name of the state or province. */
  state?: string | undefined;
  /** Postal code. */
  postalCode?: string | undefined;
  /** Typically a single letter, such as `m` or `f`; other values are permitted. */
  gender?: string | undefined;
  /** Creation time: an ISO 8601 day or date-time, or a `Date`. Default: now. */
  createdAt?: string | Date | undefined;
  /** Whether to start the configured welcome e-mails; default `false`. */
  triggerWelcomeEmail?: boolean | undefined;
  /** The ids of the contact's lists; may be empty. */
  listIds: string[];
  /** At least one. A new contact needs an e-mail identifier; only the service knows whether a contact is new. */
  identifiers: V2Identifier[];
  [field: string]: unknown;
};

/** An e-mail address or a phone number of a v2 contact, with status per channel and consent ("v2 identifier object"). */
export type V2Identifier = {
  /** The type of the identifier's `id`. */
  type: "email" | "phone";
  /** The e-mail address (a string), or the phone number (a string or a number). */
  id: string | number;
  /**
   * Status per channel. `email` is required if the contact has no phone identifier, `phone` if it has no e-mail
   * identifier.
   */
  channels: {
    email?: V2Channel | undefined;
    phone?: V2Channel | undefined;
    [channel: string]: unknown;
  };
  /** The evidence of the identifier's consent. */
  consent: {
    /** The time of the consent: an ISO 8601 date-time, or a `Date`. */
    createdAt: string | Date;
    /** The IPv4 or IPv6 address of the consent. */
    ip: string;
    /** The source of the consent: a web form, an import, … */
    source: string;
    [field: string]: unknown;
  };
  [field: string]: unknown;
};

type V2Channel = {
  /**
   * Typically `subscribed` or `unsubscribed`, in lower case; the full set is not documented. The words of v1
   * (`UNSUBSCRIBED`) are refused.
   */
  status: string;
  [field: string]: unknown;
};

/** The response to a v2 upsert. Undocumented keys are kept: `result as Record<string, unknown>` reads them. */
export type V2UpsertResult = {
  /** Any other status is an `UnexpectedResponseError`. */
  status: true;
};

const knownStatuses = ["subscribed", "unsubscribed"];

/** Any status, as the full set is not documented, but no known one in another case, and no state of v1 (D115). */
const statusSchema = z.string().check(({ value: input, issues }) => {
  const status = input.toLowerCase();
  if (knownStatuses.includes(input) || ![...knownStatuses, "non_subscribed"].includes(status)) return;
  const message = knownStatuses.includes(status)
    ? `must be written ${status}: case counts`
    : `must be another status, as ${input} is one of v1 alone: v2 has ${knownStatuses.join(" and ")}`;
  issues.push({ code: "invalid_value", values: knownStatuses, input, message, continue: true });
});

const channelSchema = z.object({ status: statusSchema }).catchall(jsonValue).optional();

/**
 * The keys of a v2 identifier, without the rule on its id: for `.extend`, `.pick`, `.omit` and `.partial`
 * ("v2 identifier object"). Other keys are passed on.
 */
export const v2IdentifierFieldsSchema = z
  .object({
    type: z.enum(["email", "phone"]),
    id: z.union([z.string(), z.number()]),
    channels: z.object({ email: channelSchema, phone: channelSchema }).catchall(jsonValue),
    consent: z.object({ createdAt: dateTime, ip: ipAddress, source: z.string() }).catchall(jsonValue),
  })
  .catchall(jsonValue) satisfies z.ZodType<V2Identifier>;

/** An e-mail address or a phone number of a v2 contact, with status per channel and consent ("v2 identifier object"). */
export const v2IdentifierSchema = v2IdentifierFieldsSchema.superRefine(({ type, id }, { addIssue }) => {
  // An id that is no string or number has its own issue; an e-mail address is no number.
  if (type !== "email" || (typeof id !== "string" && typeof id !== "number")) return;
  const message = problemOfEmail(String(id));
  if (message !== undefined) addIssue({ code: "custom", path: ["id"], message });
}, besideOtherIssues);

/**
 * The keys of a v2 contact, without the rule on channels: for `.extend`, `.pick`, `.omit` and `.partial`
 * ("v2 contact"). Other keys are passed on.
 */
export const v2ContactFieldsSchema = z
  .object({
    firstName: z.string(),
    lastName: z.string().optional(),
    birthDate: day.optional(),
    city: z.string().optional(),
    countryCode: z
      .string()
      .regex(/^[A-Za-z]{2}$/, "must be a country code of two letters")
      .optional(),
    country: z.string().optional(),
    provinceCode: z.string().optional(),
    state: z.string().optional(),
    postalCode: z.string().optional(),
    gender: z.string().optional(),
    createdAt: dayOrDateTime.optional(),
    triggerWelcomeEmail: z.boolean().optional(),
    listIds: z.array(z.string()),
    identifiers: z.array(v2IdentifierSchema).min(1),
  })
  .catchall(jsonValue) satisfies z.ZodType<V2Contact>;

/**
 * The schema of `v2.contacts.upsert` ("v2 contact", "v2 identifier object"). If all identifiers have one type, each needs
 * the channel of that type (D9).
 */
export const v2ContactSchema = v2ContactFieldsSchema.superRefine(({ identifiers }, { addIssue }) => {
  // The rule runs beside other issues, so the identifiers may be any value.
  const items: unknown[] = Array.isArray(identifiers) ? identifiers : [];
  const records = items.map((item) => (isRecord(item) ? item : { type: item }));
  const [type, ...otherTypes] = new Set(records.map((identifier) => identifier["type"]));
  if (otherTypes.length > 0 || (type !== "email" && type !== "phone")) return;
  const required = `required: the contact has no ${type === "email" ? "phone" : "email"} identifier`;
  for (const [index, { channels }] of records.entries()) {
    if (!isRecord(channels) || hasOwn(channels, type)) continue;
    const message = required + givenInstead(sameName(type, Object.keys(channels)), type);
    addIssue({ code: "custom", path: ["identifiers", index, "channels", type], message });
  }
}, besideOtherIssues);

const v2UpsertResultSchema = z.looseObject({
  status: z.literal(true),
}) satisfies z.ZodType<V2UpsertResult>;

/** The contacts of the v2 family. */
export interface V2Contacts {
  /**
   * Creates a contact, or updates the contact that an identifier matches (`POST /v2/contacts`), and resolves to the
   * response's body.
   *
   * A new contact needs an e-mail identifier. Give the status of each identifier's channel: without it, or with
   * `triggerWelcomeEmail`, the write is not retried after a lost response.
   *
   * ```ts
   * await audience.v2.contacts.upsert({
   *   firstName: "Ada",
   *   listIds: [listId],
   *   identifiers: [
   *     {
   *       type: "email",
   *       id: "ada@example.com",
   *       channels: { email: { status: "subscribed" } },
   *       consent: { createdAt: new Date(), ip: "192.0.2.1", source: "web form" },
   *     },
   *   ],
   * });
   * ```
   *
   * @throws ValidationError if the contact is invalid: all problems at once, and nothing is sent.
   * @throws AudienceError of another class if the call fails; its `outcome` says whether the service may have done it.
   */
  upsert(contact: V2Contact, options?: CallOptions): ApiPromise<V2UpsertResult>;
}

export function v2Contacts(call: CallEndpoint): V2Contacts {
  return { upsert: (contact, options) => call(upsertContact, { body: contact }, options) };
}

export const upsertContact: Endpoint<V2Contact, V2UpsertResult> = {
  operation: "v2.contacts.upsert",
  method: "POST",
  path: "/v2/contacts",
  body: v2ContactSchema,
  isRepeatable: statesAllConsent,
  contactsOf: v2ContactKeys,
  consentsOf: v2ConsentWrites,
  decode: ({ body }) => parseResponse(v2UpsertResultSchema, body),
};

/**
 * Whether a write that is carried out twice leaves the same state: each identifier has the status of its own channel,
 * because transitions of v2 statuses are not documented ("States and transitions"), and there is no welcome mail.
 */
function statesAllConsent({ identifiers, triggerWelcomeEmail }: V2Contact): boolean {
  const haveStatus = identifiers.every(({ type, channels }) => channels[type]?.status !== undefined);
  return haveStatus && triggerWelcomeEmail !== true;
}
