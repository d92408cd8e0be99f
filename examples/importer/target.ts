import { type AudienceClient, isAudienceError, type Write, write } from "audience-sdk";
import type { Contact, RowIssue } from "../exports/contact.ts";

/** The list has no such id, or it is a segment. */
export class NoSuchListError extends Error {
  override readonly name = "NoSuchListError";
}

/** "the list a1b2" */
export const targetName = (listId: string | undefined) =>
  listId === undefined ? "the audience" : `the list ${listId}`;

/** The issues of a contact for the list. */
export function listIssues({ email, email_opt_in }: Contact): RowIssue[] {
  if (email === undefined)
    return [
      { field: "email", message: "is missing: a contact with a phone alone cannot be added to a list" },
    ];
  if (email_opt_in !== undefined) return [];
  const message =
    "is unstated, and adding to a list could change the contact's consent: state it with " +
    "--consent, or import the row without --list";
  return [{ field: "email consent", message }];
}

/** The write of a contact without issues. */
export function writeOf(contact: Contact, listId: string | undefined): Write {
  if (listId === undefined) return write.v1.customers.upsert(contact);
  const { email, email_opt_in, ...rest } = contact;
  if (email === undefined || email_opt_in === undefined)
    throw new TypeError("a row without its consent was not held back");
  return write.v1.contactGroups.addContact(listId, { ...rest, email, email_opt_in });
}

/** Rejects if the list is missing, or is a segment: adding to it may still create contacts. */
export async function checkList(
  { v1 }: AudienceClient,
  listId: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (listId === undefined) return;
  const group = await v1.contactGroups.get(listId, { signal, priority: 9 }).catch((cause: unknown) => {
    if (!isAudienceError(cause) || cause.code !== "not_found") throw cause;
    const message = `The service has no list ${listId}. Nothing was sent. Check --list.`;
    throw new NoSuchListError(message, { cause });
  });
  if (group["type"] === "SEGMENT")
    throw new NoSuchListError(
      `${listId} is a segment, and contacts can be added only to a list. Nothing was sent. Check --list.`,
    );
}
