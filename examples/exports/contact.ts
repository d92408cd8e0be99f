import type { v1ContactSchema } from "audience-sdk/schemas";
import type * as z from "zod";

/** A contact as `customers.upsert` and `contactGroups.addContact` take it. */
export type Contact = z.input<typeof v1ContactSchema>;

/** The three subscription states of a channel ("States and transitions"). */
export type OptIn = NonNullable<Contact["email_opt_in"]>;

/** A consent is given for a channel: e-mail, or SMS and phone messages. */
export type Channel = "email" | "phone";

export const channels: readonly Channel[] = ["email", "phone"];

/** The states, the strictest last. */
export const optIns: readonly OptIn[] = ["SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED"];

/** A problem of one field of a row, with the contact's name of the field. */
export interface RowIssue {
  readonly field: string;
  readonly message: string;
}
