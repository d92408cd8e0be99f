import type * as z from "zod";
import type { v1ContactSchema } from "audience-sdk/schemas";
import type { RowIssue } from "./csv-row.ts";

/** A contact as `customers.upsert` and `contactGroups.addContact` take it. */
export type Contact = z.input<typeof v1ContactSchema>;

/** The three subscription states of a channel ("States and transitions"). */
export type OptIn = NonNullable<Contact["email_opt_in"]>;

/** What a mapping makes of a row: the contact, not yet validated, and what could not be read. */
export interface MappedContact {
  readonly contact: Contact;
  readonly issues: readonly RowIssue[];
}
