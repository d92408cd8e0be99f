import { type AudienceClient, isAudienceError, type Write, write } from "audience-sdk";
import type { Contact, RowIssue } from "../exports/contact.ts";
import type { ReadRow } from "../exports/read-row.ts";
import type { ImporterArguments } from "./arguments.ts";
import { v2Contact, type V2Contact } from "./v2-contact.ts";

/** The family and the list of the import. */
export interface Target {
  /** A description: "the list a1b2 (v1)". */
  readonly name: string;
  readonly hasCustomProperties: boolean;
  /** Whether a consent can be sent by itself. */
  readonly acceptsRefusals: boolean;
  /** The issues of a contact for this target, beyond the rules of a v1 contact. Sends nothing. */
  issuesOf(contact: Contact, row: ReadRow): readonly RowIssue[];
  /** Rejects if the list is missing, or is a segment: adding to it may still create contacts. */
  checkList(audience: AudienceClient, signal: AbortSignal): Promise<void>;
  write(contact: Contact, row: ReadRow): Write;
}

/** The service has no such list, or it is a segment. */
export class NoSuchListError extends Error {
  override readonly name = "NoSuchListError";
}

export function targetOf({ family, listId }: Pick<ImporterArguments, "family" | "listId">): Target {
  if (family === "v2") return v2Target(listId);
  return listId === undefined ? v1Target : v1ListTarget(listId);
}

const v1Target: Target = {
  name: "the audience (v1)",
  hasCustomProperties: true,
  acceptsRefusals: true,
  issuesOf: () => [],
  checkList: () => Promise.resolve(),
  write: (contact) => write.v1.customers.upsert(contact),
};

function v1ListTarget(listId: string): Target {
  return {
    name: `the list ${listId} (v1)`,
    hasCustomProperties: true,
    acceptsRefusals: true,
    issuesOf({ email, email_opt_in }) {
      if (email === undefined)
        return [
          { field: "email", message: "is missing: a contact with a phone alone cannot be added to a list" },
        ];
      if (email_opt_in !== undefined) return [];
      const message =
        "is unstated, and adding to a list could change the contact's consent: state it with " +
        "--consent, or import the row without --list";
      return [{ field: "email consent", message }];
    },
    async checkList(audience, signal) {
      const group = await audience.v1.contactGroups.get(listId, { signal }).catch((error: unknown) => {
        throw isAudienceError(error) && error.code === "not_found" ? noSuchList(listId, error) : error;
      });
      if (group["type"] === "SEGMENT")
        throw new NoSuchListError(
          `${listId} is a segment, and contacts can be added only to a list. Nothing was sent. Check --list.`,
        );
    },
    write({ email, email_opt_in, ...rest }) {
      // Such a row has an issue, and is not sent.
      if (email === undefined || email_opt_in === undefined)
        throw new TypeError("a row without its consent was not held back");
      return write.v1.contactGroups.addContact(listId, { ...rest, email, email_opt_in });
    },
  };
}

function v2Target(listId: string | undefined): Target {
  return {
    name: listId === undefined ? "the audience (v2)" : `the list ${listId} (v2)`,
    hasCustomProperties: false,
    acceptsRefusals: false,
    issuesOf: (contact, row) => v2Contact(contact, row, listId).issues,
    async checkList(audience, signal) {
      if (listId === undefined) return;
      for await (const { uuid } of audience.v2.lists.list({}, { signal })) if (uuid === listId) return;
      throw noSuchList(listId);
    },
    // Safe: `issuesOf` has validated it, and the client validates it again.
    write: (contact, row) => write.v2.contacts.upsert(v2Contact(contact, row, listId).contact as V2Contact),
  };
}

function noSuchList(listId: string, cause?: unknown): NoSuchListError {
  return new NoSuchListError(`The service has no list ${listId}. Nothing was sent. Check --list.`, {
    cause,
  });
}
