import * as z from "zod";

import { crossFieldRule } from "../../fields/cross-field-rule.ts";
import { dateTime } from "../../fields/date-time.ts";
import { emailRule, isEmail } from "../../fields/email.ts";
import { wrongType } from "../../fields/explain.ts";
import { looseFields } from "../../fields/field-object.ts";
import { ipAddress } from "../../fields/ip-address.ts";
import { oneOf, text } from "../../fields/text.ts";

const channel = looseFields({
  /** Typically `subscribed` or `unsubscribed`; the full set is not documented. */
  status: text(),
});

/** An e-mail address or a phone number of a v2 contact, with consent and status per channel ("v2 identifier object"). */
export const v2IdentifierSchema = looseFields({
  /** What `id` is. */
  type: oneOf(["email", "phone"]),
  /** The e-mail address (a text), or the phone number (a text or a number). */
  id: z.union([z.string(), z.number()], {
    error: (issue) => wrongType("a text or a number", issue.input),
  }),
  /**
   * Status per channel. `email` is required where the contact has no phone identifier, `phone` where it has no e-mail
   * identifier.
   */
  channels: looseFields({
    email: channel.optional(),
    phone: channel.optional(),
  }),
  /** When, from where and how consent was given. */
  consent: looseFields({
    /** When: an ISO 8601 date-time, or a `Date`. */
    createdAt: dateTime(),
    /** From where: an IPv4 or IPv6 address. */
    ip: ipAddress(),
    /** How: a web form, an import, … */
    source: text(),
  }),
}).check(
  crossFieldRule(({ type, id }) => {
    if (type !== "email") return [];
    if (typeof id === "number") return [{ path: ["id"], message: `${emailRule}; it is a number` }];
    return typeof id === "string" && !isEmail(id) ? [{ path: ["id"], message: emailRule }] : [];
  }),
);

/** An e-mail address or a phone number of a v2 contact, with consent and status per channel. */
export type V2Identifier = z.infer<typeof v2IdentifierSchema>;
