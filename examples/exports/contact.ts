import type { v1ContactSchema } from "audience-sdk/schemas";
import type * as z from "zod";

/** A contact as `customers.upsert` and `contactGroups.addContact` take it. */
export type Contact = z.input<typeof v1ContactSchema>;

/** The three subscription states of a channel ("States and transitions"). */
export type OptIn = NonNullable<Contact["email_opt_in"]>;

/** A consent is given for a channel: e-mail, or SMS and phone messages. */
export type Channel = "email" | "phone";

/** The states, the strictest last. */
export const optIns: readonly OptIn[] = ["SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED"];

/** The stricter of two states; undefined is no state. */
export function stricter(one: OptIn | undefined, other: OptIn | undefined): OptIn | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return optIns.indexOf(one) >= optIns.indexOf(other) ? one : other;
}

/** The evidence of a consent that v2 requires ("v2 identifier object"); a file may have only a part of it. */
export interface ConsentEvidence {
  readonly createdAt?: string | undefined;
  readonly ip?: string | undefined;
  readonly source?: string | undefined;
}

/** A problem of one field of a row, with the contact's name of the field. */
export interface RowIssue {
  readonly field: string;
  readonly message: string;
}
