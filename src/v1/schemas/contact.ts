import type * as z from "zod";

import { crossFieldRule } from "../../fields/cross-field-rule.ts";
import { day } from "../../fields/day.ts";
import { email } from "../../fields/email.ts";
import { explain } from "../../fields/explain.ts";
import { strictFields } from "../../fields/field-object.ts";
import { optionOfTheCall } from "../../fields/query-hint.ts";
import { boundedText, oneOf, text, yesOrNo } from "../../fields/text.ts";
import { wholeNumberFrom1 } from "../../fields/whole-number.ts";
import { LIMITS } from "../../limits.ts";
import { customProperties } from "./custom-properties.ts";

const optInStates = ["SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED"] as const;

/** The state of a contact's consent on one channel; case counts ("States and transitions"). */
export type V1OptIn = (typeof optInStates)[number];

/**
 * The fields of a v1 contact, without the rule that an `email` or a `phone` is needed: for `.extend`, `.pick`,
 * `.omit` and `.partial` ("v1 contact"). Any other field is refused, as the service refuses it.
 */
export const v1ContactFieldsSchema = strictFields(
  {
    /** Required unless `phone` is given. */
    email: email().optional(),
    /** 7–20 characters; required unless `email` is given. Needed for phone-based messaging. */
    phone: boundedText(LIMITS.phone).optional(),
    /** Your own identifier of the person. */
    external_id: text().optional(),
    /** At most 100 characters. */
    first_name: boundedText(LIMITS.first_name).optional(),
    /** At most 100 characters. */
    last_name: boundedText(LIMITS.last_name).optional(),
    /** Consent to e-mail. Left out, a new contact is `NON_SUBSCRIBED` and gets no marketing e-mail. */
    email_opt_in: oneOf(optInStates).optional(),
    /** Consent to SMS and phone messaging; `NON_SUBSCRIBED` where left out. */
    phone_opt_in: oneOf(optInStates).optional(),
    /** Default `false`. */
    is_suppressed: yesOrNo().optional(),
    /** Whether the contact must confirm by e-mail before it counts as subscribed; default `false`. */
    double_opt_in: yesOrNo().optional(),
    /** Where the contact came from; default `api`. */
    source: text().optional(),
    /** Day of birth, `YYYY-MM-DD`. Text only: a `Date` has a time zone. */
    dob: day().optional(),
    /** Case counts. */
    gender: oneOf(["MALE", "FEMALE", "OTHER"]).optional(),
    /** At most 100 characters. The service makes a country code of it. */
    country: boundedText(LIMITS.country).optional(),
    /** At most 100 characters. */
    state: boundedText(LIMITS.state).optional(),
    /** At most 100 characters. */
    city: boundedText(LIMITS.city).optional(),
    /** At most 255 characters. */
    address1: boundedText(LIMITS.address1).optional(),
    /** At most 255 characters. */
    address2: boundedText(LIMITS.address2).optional(),
    /** 3–20 characters. */
    postal_code: boundedText(LIMITS.postal_code).optional(),
    /** At most 30 keys. Flat: `flattenProperties` makes nested values so. Blank texts are dropped by the service. */
    custom_properties: customProperties().optional(),
  },
  (key, value) => (wrappers.has(key) && typeof value === "object" ? wrapped : ownField),
);

const wrappers = new Set(["contact", "contacts", "customer", "customers", "profile", "data", "attributes"]);
const wrapped =
  "unknown field: a contact is sent alone and flat, its fields at the top and not wrapped in an object";
const ownField =
  "unknown field: the service refuses a contact that holds it; fields of your own go under custom_properties";

/** A v1 contact, as `v1.customers.upsert` sends it: at least an `email` or a `phone` ("v1 contact"). */
export const v1ContactSchema = v1ContactFieldsSchema
  .check(
    crossFieldRule(({ email: address, phone }) =>
      address === undefined && phone === undefined
        ? [{ path: ["email"], message: "required: an email or a phone; the contact has neither" }]
        : [],
    ),
  )
  .meta({ anyOf: [{ required: ["email"] }, { required: ["phone"] }] });

/** A v1 contact, as `v1.customers.upsert` takes it. */
export type V1Contact = z.infer<typeof v1ContactSchema>;

/**
 * The fields of a contact that is added to a list: a v1 contact whose `email` is required
 * (`POST /api/v1/contact-groups/{listId}/contacts`).
 */
export const v1ListContactFieldsSchema = v1ContactFieldsSchema.extend({
  /** Required: a phone alone is not enough here. */
  email: email((issue) => (issue.input === undefined ? emailMissing : explain(issue))),
});

const emailMissing = "required: an e-mail address; a phone alone is not enough to add a contact to a list";

/** A contact that is added to a list, as documented: `email_opt_in` may be left out. */
export const v1ListContactSchema = v1ListContactFieldsSchema;

/** A contact that is added to a list, with or without `email_opt_in`. */
export type V1ListContact = z.infer<typeof v1ListContactSchema>;

/**
 * A contact that is added to a list with its consent said. `email_opt_in` is required, because without it the service
 * turns an existing contact to `SUBSCRIBED`, even one that had unsubscribed ("States and transitions").
 */
export const v1ConsentedListContactSchema = v1ListContactFieldsSchema.extend({
  /** Consent to e-mail: said, as the service would otherwise subscribe an existing contact. */
  email_opt_in: oneOf(optInStates, (issue) => (issue.input === undefined ? consentMissing : explain(issue))),
});

const consentMissing =
  "required: without it the service turns an existing contact to SUBSCRIBED, even one that has unsubscribed; " +
  'send the state that is meant, or call with { consent: "service-decides" }';

/** A contact that is added to a list, with its consent said. */
export type V1ConsentedListContact = z.infer<typeof v1ConsentedListContactSchema>;

/** Which page of the contacts (`GET /api/v1/customer`). */
export const v1CustomerListQuerySchema = strictFields(
  {
    /** From 1; default 1. */
    page: wholeNumberFrom1().optional(),
    /** Contacts per page, from 1; the service's default is 10, and it counts anything over 100 as 100. */
    limit: wholeNumberFrom1().optional(),
  },
  optionOfTheCall,
);

/** Which page of the contacts (`GET /api/v1/customer`). */
export type V1CustomerListQuery = z.infer<typeof v1CustomerListQuerySchema>;
