import * as z from "zod";
import { besideOtherIssues } from "../../schema/issues.ts";
import { jsonValue } from "../../schema/json.ts";
import { dateTime, emailRule, ipAddress, isEmail } from "../../schema/string.ts";

/** An e-mail address or a phone number of a v2 contact, with status per channel and consent ("v2 identifier object"). */
export type V2Identifier = {
  /** The type of `id`. */
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
  /** The evidence of consent. */
  consent: {
    /** The time: an ISO 8601 date-time, or a `Date`. */
    createdAt: string | Date;
    /** The IPv4 or IPv6 address. */
    ip: string;
    /** The source: a web form, an import, … */
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

const channel = z.object({ status: z.string() }).catchall(jsonValue).optional();

/** An e-mail address or a phone number of a v2 contact, with status per channel and consent ("v2 identifier object"). */
export const v2IdentifierSchema = z
  .object({
    type: z.enum(["email", "phone"]),
    id: z.union([z.string(), z.number()]),
    channels: z.object({ email: channel, phone: channel }).catchall(jsonValue),
    consent: z.object({ createdAt: dateTime, ip: ipAddress, source: z.string() }).catchall(jsonValue),
  })
  .catchall(jsonValue)
  .refine(({ type, id }) => type !== "email" || isOtherType(id) || isEmail(String(id)), {
    path: ["id"],
    error: emailRule,
    ...besideOtherIssues,
  }) satisfies z.ZodType<V2Identifier>;

/** An id of another type has its own issue. */
function isOtherType(id: unknown): boolean {
  return typeof id !== "string" && typeof id !== "number";
}
