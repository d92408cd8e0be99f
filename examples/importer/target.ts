import type { AudienceClient, BulkRequest } from "audience-sdk";
import { v1ListContactSchema } from "audience-sdk/schemas";
import type { RowIssue } from "../exports/csv-row.ts";
import type { ImportedRow } from "../exports/imported-row.ts";
import type { ImporterArguments } from "./arguments.ts";
import { v2Contact, type V2Contact } from "./v2-contact.ts";

/** Where the rows go: which family, and which list. */
export interface Target {
  /** In words: "the list a1b2 (v1)". */
  readonly name: string;
  /** What keeps a row from going there, beyond the rules of a v1 contact. Sends nothing. */
  issuesOf(row: ImportedRow): readonly RowIssue[];
  /** Rejects where the list is not there: adding to such a list may still create contacts. */
  checkList(audience: AudienceClient, signal: AbortSignal): Promise<void>;
  send(audience: AudienceClient, row: ImportedRow, request: BulkRequest): Promise<unknown>;
}

/** What the command line cannot have meant, found out from the service. */
export class NoSuchListError extends Error {
  override readonly name = "NoSuchListError";
}

export function targetOf({ family, listId }: ImporterArguments): Target {
  return family === "v1" ? v1Target(listId) : v2Target(listId);
}

function v1Target(listId: string | undefined): Target {
  return {
    name: listId === undefined ? "the audience (v1)" : `the list ${listId} (v1)`,
    issuesOf: ({ contact }) =>
      listId === undefined || v1ListContactSchema.safeParse(contact).success || contact.email !== undefined
        ? []
        : [{ field: "email", message: "is missing: a contact with a phone alone cannot be added to a list" }],
    async checkList(audience, signal) {
      if (listId !== undefined) await audience.v1.contactGroups.get(listId, { signal });
    },
    async send(audience, { contact }, request) {
      const { email, email_opt_in } = contact;
      if (listId === undefined || email === undefined || email_opt_in === undefined) {
        return await audience.v1.customers.upsert(contact, request);
      }
      return await audience.v1.contactGroups.addContact(listId, { ...contact, email, email_opt_in }, request);
    },
  };
}

function v2Target(listId: string | undefined): Target {
  return {
    name: listId === undefined ? "the audience (v2)" : `the list ${listId} (v2)`,
    issuesOf: (row) => v2Contact(row, listId).issues,
    async checkList(audience, signal) {
      if (listId === undefined) return;
      for await (const { uuid } of audience.v2.lists.list({}, { signal })) if (uuid === listId) return;
      throw new NoSuchListError(`There is no list ${listId}.`);
    },
    // True: the rules have found it to be one; if not, the client refuses it before it is sent.
    send: (audience, row, request) =>
      audience.v2.contacts.upsert(v2Contact(row, listId).contact as V2Contact, request),
  };
}
