import type * as z from "zod";
import type { v1ContactSchema } from "audience-sdk/schemas";
import type { RowIssue } from "./csv-row.ts";

/** A contact as `customers.upsert` and `contactGroups.addContact` take it. */
export type Contact = z.input<typeof v1ContactSchema>;

/** The three subscription states of a channel ("States and transitions"). */
export type OptIn = NonNullable<Contact["email_opt_in"]>;

/** What v2 wants to know of a consent ("v2 identifier object"); a file may say only some of it, or nothing. */
export interface ConsentEvidence {
  readonly createdAt?: string | undefined;
  readonly ip?: string | undefined;
  readonly source?: string | undefined;
}

/** What a mapping makes of a row: the contact, not yet validated, and what could not be read. */
export interface MappedContact {
  readonly contact: Contact;
  /** When, from where and how consent was given, by channel: as far as the file says. */
  readonly evidence?: { readonly email?: ConsentEvidence; readonly phone?: ConsentEvidence };
  readonly issues: readonly RowIssue[];
}
