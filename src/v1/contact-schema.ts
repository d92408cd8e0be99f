import * as z from "zod";
import { optInStates } from "../consent.ts";
import { LIMITS } from "../limits.ts";
import { boundedString, day, emailAddress } from "../schema/formats.ts";
import { besideOtherIssues, unknownKeys } from "../schema/validate.ts";
import { kindOf } from "../values/in-words.ts";
import { hasMethods, hasOwn, isDate, isObject } from "../values/predicates.ts";

/** The state of a contact's consent on one channel; case counts ("States and transitions"). */
export type V1OptIn = (typeof optInStates)[number];

/** A custom property. The service stores numbers and booleans as strings ("Custom property value rules"). */
export type CustomPropertyValue = string | number | boolean;

/** The custom properties of a v1 contact. A key whose value is `undefined` is left out. */
export type CustomProperties = Record<string, CustomPropertyValue | undefined>;

/** A v1 contact, the input of `v1.customers.upsert`: at least an `email` or a `phone` ("v1 contact"). */
export type V1Contact = {
  /** Required unless `phone` is given. */
  email?: string | undefined;
  /** 7–20 characters; required unless `email` is given. Needed for phone-based messaging. */
  phone?: string | undefined;
  /** Your own identifier of the person. */
  external_id?: string | undefined;
  /** At most 100 characters. */
  first_name?: string | undefined;
  /** At most 100 characters. */
  last_name?: string | undefined;
  /**
   * Consent to e-mail. Left out, a new contact is `NON_SUBSCRIBED` and gets no marketing e-mail. Left out in `addContact`,
   * an existing contact becomes `SUBSCRIBED`. In `upsert` the effect on an existing contact is not documented.
   */
  email_opt_in?: V1OptIn | undefined;
  /**
   * Consent to SMS and phone messaging. Left out, a new contact is `NON_SUBSCRIBED`; the effect on an existing contact is
   * not documented.
   */
  phone_opt_in?: V1OptIn | undefined;
  /** Default `false`. */
  is_suppressed?: boolean | undefined;
  /** Whether the contact must confirm by e-mail before it counts as subscribed; default `false`. */
  double_opt_in?: boolean | undefined;
  /** Where the contact came from; default `api`. */
  source?: string | undefined;
  /** Day of birth, `YYYY-MM-DD`. No `Date`, because it has a time zone. */
  dob?: string | undefined;
  /** Case counts. */
  gender?: "MALE" | "FEMALE" | "OTHER" | undefined;
  /** At most 100 characters. The service stores a country code. */
  country?: string | undefined;
  /** At most 100 characters. */
  state?: string | undefined;
  /** At most 100 characters. */
  city?: string | undefined;
  /** At most 255 characters. */
  address1?: string | undefined;
  /** At most 255 characters. */
  address2?: string | undefined;
  /** 3–20 characters. */
  postal_code?: string | undefined;
  /** At most 30 keys, without nested values: see `flattenProperties`. The service drops blank strings. */
  custom_properties?: CustomProperties | undefined;
};

// Mapped types, so that messages of the compiler name them, and declarations show each key.
type ListContact = Omit<V1Contact, "email"> & { email: string };

/** A v1 contact to add to a list, with or without `email_opt_in`. `email` is required. */
export type V1ListContact = { [Key in keyof ListContact]: ListContact[Key] };

type ConsentedListContact = Omit<V1ListContact, "email_opt_in"> & {
  /** Consent to e-mail. Required: without it the service would subscribe an existing contact. */
  email_opt_in: V1OptIn;
};

/** A v1 contact to add to a list, with its consent. */
export type V1ConsentedListContact = { [Key in keyof ConsentedListContact]: ConsentedListContact[Key] };

/** The query of the contacts (`GET /api/v1/customer`). */
export type V1CustomerListQuery = {
  /** From 1; default 1. */
  page?: number | undefined;
  /** Items per page, from 1; the service's default is 10, and it counts anything over 100 as 100. */
  limit?: number | undefined;
};

const optInSchema = z.enum(optInStates);

const customPropertySchema = z.union([z.string(), z.number(), z.boolean()], {
  error: ({ input }) => {
    if (isDate(input)) return `must be a string, not ${kindOf(input)}: write date.toISOString()`;
    return isObject(input) && !hasMethods(input, "then")
      ? `must be flat, not ${kindOf(input)}, which the service would store as unusable text: use flattenProperties`
      : undefined;
  },
});

const { maxKeys } = LIMITS.custom_properties;

/** The custom properties of a v1 contact: flat, at most 30 keys. The service drops blank strings. */
const customPropertiesSchema = z
  .record(z.string(), customPropertySchema.optional())
  .superRefine((input, { addIssue }) => {
    const count = Object.values(input).filter((property) => property !== undefined).length;
    const message = `must have at most ${maxKeys} keys in one request, has ${count}`;
    const issue = { code: "too_big", origin: "object", maximum: maxKeys, inclusive: true } as const;
    if (count > maxKeys) addIssue({ ...issue, input, message });
  }, besideOtherIssues)
  .meta({ maxProperties: maxKeys }) satisfies z.ZodType<CustomProperties>;

/**
 * The keys of a v1 contact, without the rule that an `email` or a `phone` is required: for `.extend`, `.pick`,
 * `.omit` and `.partial`. Unknown keys are refused, as by the service ("v1 contact").
 */
export const v1ContactFieldsSchema = z.strictObject(
  {
    email: emailAddress().optional(),
    phone: boundedString(LIMITS.phone).optional(),
    external_id: z.string().optional(),
    first_name: boundedString(LIMITS.first_name).optional(),
    last_name: boundedString(LIMITS.last_name).optional(),
    email_opt_in: optInSchema.optional(),
    phone_opt_in: optInSchema.optional(),
    is_suppressed: z.boolean().optional(),
    double_opt_in: z.boolean().optional(),
    source: z.string().optional(),
    dob: day.optional(),
    gender: z.enum(["MALE", "FEMALE", "OTHER"]).optional(),
    country: boundedString(LIMITS.country).optional(),
    state: boundedString(LIMITS.state).optional(),
    city: boundedString(LIMITS.city).optional(),
    address1: boundedString(LIMITS.address1).optional(),
    address2: boundedString(LIMITS.address2).optional(),
    postal_code: boundedString(LIMITS.postal_code).optional(),
    custom_properties: customPropertiesSchema.optional(),
  },
  {
    error: unknownKeys(
      "unknown key, which the service refuses: keys of your own go under custom_properties, options of the call into its last argument; a contact is sent alone, not wrapped",
    ),
  },
) satisfies z.ZodType<V1Contact>;

/** The schema of `v1.customers.upsert`: at least an `email` or a `phone` ("v1 contact"). */
export const v1ContactSchema = v1ContactFieldsSchema
  .refine((contact) => hasOwn(contact, "email") || hasOwn(contact, "phone"), {
    path: ["email"],
    error: "required: an email or a phone",
    ...besideOtherIssues,
  })
  .meta({ anyOf: [{ required: ["email"] }, { required: ["phone"] }] });

/**
 * The schema of a contact to add to a list, as documented: `email` is required, `email_opt_in` is optional
 * (`POST /api/v1/contact-groups/{listId}/contacts`).
 */
export const v1ListContactSchema = v1ContactFieldsSchema.extend({
  email: emailAddress("required: an e-mail address; a phone alone is not enough"),
}) satisfies z.ZodType<V1ListContact>;

/** The keys of a v1 contact to add to a list: for `.extend`, `.pick`, `.omit` and `.partial`. */
export const v1ListContactFieldsSchema = v1ListContactSchema;

/**
 * The schema of a contact to add to a list, with its consent. `email_opt_in` is required, because without it the service
 * makes an existing contact `SUBSCRIBED`, even one that had unsubscribed ("States and transitions").
 */
export const v1ConsentedListContactSchema = v1ListContactSchema.extend({
  email_opt_in: z.enum(optInStates, {
    error: ({ input }) =>
      input === undefined
        ? 'required: without it the service makes an existing contact SUBSCRIBED, even one that has unsubscribed; say the state, or call with { consent: "service-decides" }'
        : undefined,
  }),
}) satisfies z.ZodType<V1ConsentedListContact>;

/** The query of the contacts (`GET /api/v1/customer`). The service counts a `limit` over 100 as 100 ("Limits"). */
export const v1CustomerListQuerySchema = z.strictObject(
  { page: z.int().min(1).optional(), limit: z.int().min(1).optional() },
  { error: unknownKeys("unknown key; options of the call are its second argument") },
) satisfies z.ZodType<V1CustomerListQuery>;
