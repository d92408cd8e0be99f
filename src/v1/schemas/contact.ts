import { extended, strictFields, withRule } from "../../fields/objects.ts";
import { explain } from "../../fields/explain.ts";
import { boundedText, oneOf, text, yesOrNo } from "../../fields/text.ts";
import { crossFieldRule } from "../../fields/cross-field-rule.ts";
import { customProperties, type CustomProperties } from "./custom-properties.ts";
import { wholeNumberFrom1 } from "../../fields/whole-number.ts";
import { LIMITS } from "../../limits.ts";
import { optionOfTheCall } from "../../fields/query-hint.ts";
import { day } from "../../fields/day.ts";
import { email } from "../../fields/email.ts";
import { optional, type Flat, type TextField } from "../../fields/field.ts";

const optInStates = ["SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED"] as const;

/** The state of a contact's consent on one channel; case counts ("States and transitions"). */
export type V1OptIn = (typeof optInStates)[number];

/** A v1 contact, as `v1.customers.upsert` takes it: at least an `email` or a `phone` ("v1 contact"). */
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
  /** Consent to e-mail. Left out, a new contact is `NON_SUBSCRIBED` and gets no marketing e-mail. */
  email_opt_in?: V1OptIn | undefined;
  /** Consent to SMS and phone messaging; `NON_SUBSCRIBED` where left out. */
  phone_opt_in?: V1OptIn | undefined;
  /** Default `false`. */
  is_suppressed?: boolean | undefined;
  /** Whether the contact must confirm by e-mail before it counts as subscribed; default `false`. */
  double_opt_in?: boolean | undefined;
  /** Where the contact came from; default `api`. */
  source?: string | undefined;
  /** Day of birth, `YYYY-MM-DD`. Text only: a `Date` has a time zone. */
  dob?: string | undefined;
  /** Case counts. */
  gender?: "MALE" | "FEMALE" | "OTHER" | undefined;
  /** At most 100 characters. The service makes a country code of it. */
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
  /** At most 30 keys. Flat: `flattenProperties` makes nested values so. Blank texts are dropped by the service. */
  custom_properties?: CustomProperties | undefined;
};

/** A contact that is added to a list, with or without `email_opt_in`: an `email` is required, a phone alone is not enough. */
export type V1ListContact = Flat<Omit<V1Contact, "email"> & { email: string }>;

/** A contact that is added to a list, with its consent said. */
export type V1ConsentedListContact = Flat<
  Omit<V1ListContact, "email_opt_in"> & {
    /** Consent to e-mail: said, as the service would otherwise subscribe an existing contact. */
    email_opt_in: V1OptIn;
  }
>;

/** Which page of the contacts (`GET /api/v1/customer`). */
export type V1CustomerListQuery = {
  /** From 1; default 1. */
  page?: number | undefined;
  /** Contacts per page, from 1; the service's default is 10, and it counts anything over 100 as 100. */
  limit?: number | undefined;
};

/**
 * The fields of a v1 contact, without the rule that an `email` or a `phone` is needed: for `.extend`, `.pick`,
 * `.omit` and `.partial` ("v1 contact"). Any other field is refused, as the service refuses it.
 */
export const v1ContactFields = strictFields(
  {
    email: optional(email()),
    phone: optional(limitedText("phone")),
    external_id: optional(text()),
    first_name: optional(limitedText("first_name")),
    last_name: optional(limitedText("last_name")),
    email_opt_in: optional(oneOf(optInStates)),
    phone_opt_in: optional(oneOf(optInStates)),
    is_suppressed: optional(yesOrNo()),
    double_opt_in: optional(yesOrNo()),
    source: optional(text()),
    dob: optional(day()),
    gender: optional(oneOf(["MALE", "FEMALE", "OTHER"])),
    country: optional(limitedText("country")),
    state: optional(limitedText("state")),
    city: optional(limitedText("city")),
    address1: optional(limitedText("address1")),
    address2: optional(limitedText("address2")),
    postal_code: optional(limitedText("postal_code")),
    custom_properties: optional(customProperties()),
  },
  (key, value) => (wrappers.test(key) && typeof value === "object" ? wrapped : ownField),
);

const wrappers = /^(contacts?|customers?|profile|data|attributes)$/;
const wrapped = "unknown field: a contact is sent alone, its fields at the top, not wrapped";
const ownField =
  "unknown field: the service refuses a contact that holds it; fields of your own go under custom_properties";

/** A text of the documented length. */
/*! @__NO_SIDE_EFFECTS__ */
function limitedText(field: Exclude<keyof typeof LIMITS, "rate" | "limit" | "custom_properties">): TextField {
  return boundedText(LIMITS[field]);
}

/** A v1 contact, as `v1.customers.upsert` sends it: at least an `email` or a `phone` ("v1 contact"). */
export const v1Contact = withRule(
  v1ContactFields,
  crossFieldRule(
    ({ email: address, phone }) =>
      address === undefined && phone === undefined
        ? [{ path: ["email"], message: "required: an email or a phone" }]
        : [],
    { anyOf: [{ required: ["email"] }, { required: ["phone"] }] },
  ),
);

/**
 * The fields of a contact that is added to a list: a v1 contact whose `email` is required
 * (`POST /api/v1/contact-groups/{listId}/contacts`). As documented: `email_opt_in` may be left out.
 */
export const v1ListContact = extended(v1ContactFields, {
  email: email((issue) => (issue.input === undefined ? emailMissing : explain(issue))),
});

const emailMissing = "required: an e-mail address; a phone alone is not enough";

/**
 * A contact that is added to a list with its consent said. `email_opt_in` is required, because without it the service
 * turns an existing contact to `SUBSCRIBED`, even one that had unsubscribed ("States and transitions").
 */
export const v1ConsentedListContact = extended(v1ListContact, {
  email_opt_in: oneOf(optInStates, (issue) => (issue.input === undefined ? consentMissing : explain(issue))),
});

const consentMissing =
  'required: without it the service makes an existing contact SUBSCRIBED, even one that has unsubscribed; say the state, or call with { consent: "service-decides" }';

/** Which page of the contacts (`GET /api/v1/customer`). */
export const v1CustomerListQuery = strictFields(
  { page: optional(wholeNumberFrom1()), limit: optional(wholeNumberFrom1()) },
  optionOfTheCall,
);
