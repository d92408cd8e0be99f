import { free } from "../../fields/free.ts";
import { wrongType } from "../../fields/explain.ts";
import { crossFieldRule } from "../../fields/cross-field-rule.ts";
import { ipAddress } from "../../fields/ip-address.ts";
import { oneOf, text } from "../../fields/text.ts";
import { optional } from "../../fields/field.ts";
import { emailRule, isEmail } from "../../fields/email.ts";
import { dateTime } from "../../fields/date-time.ts";
import { looseFields, withRule } from "../../fields/objects.ts";

/** An e-mail address or a phone number of a v2 contact, with consent and status per channel ("v2 identifier object"). */
export type V2Identifier = {
  /** What `id` is. */
  type: "email" | "phone";
  /** The e-mail address (a text), or the phone number (a text or a number). */
  id: string | number;
  /**
   * Status per channel. `email` is required where the contact has no phone identifier, `phone` where it has no e-mail
   * identifier.
   */
  channels: {
    email?: V2Channel | undefined;
    phone?: V2Channel | undefined;
    [channel: string]: unknown;
  };
  /** When, from where and how consent was given. */
  consent: {
    /** When: an ISO 8601 date-time, or a `Date`. */
    createdAt: string | Date;
    /** From where: an IPv4 or IPv6 address. */
    ip: string;
    /** How: a web form, an import, … */
    source: string;
    [field: string]: unknown;
  };
  [field: string]: unknown;
};

type V2Channel = {
  /** Typically `subscribed` or `unsubscribed`; the full set is not documented. */
  status: string;
  [field: string]: unknown;
};

const channel = looseFields({ status: text() });

/** An identifier of a v2 contact ("v2 identifier object"). */
export const v2Identifier = withRule(
  looseFields({
    type: oneOf(["email", "phone"]),
    id: free<string | number>(
      ({ value: input, issues }) => {
        if (typeof input === "string" || Number.isFinite(input)) return;
        const message = wrongType("a text or a number", input);
        issues.push({ code: "invalid_type", expected: "string", input, message });
      },
      { anyOf: [{ type: "string" }, { type: "number" }] },
    ),
    channels: looseFields({ email: optional(channel), phone: optional(channel) }),
    consent: looseFields({ createdAt: dateTime(), ip: ipAddress(), source: text() }),
  }),
  crossFieldRule(({ type, id }) => {
    if (type !== "email") return [];
    if (typeof id === "number") return [{ path: ["id"], message: `${emailRule}; it is a number` }];
    return typeof id === "string" && !isEmail(id) ? [{ path: ["id"], message: emailRule }] : [];
  }),
);
