import { basename } from "node:path";
import { type Contact, type RowIssue, stricter } from "./contact.ts";
import { People, type PersonConsent } from "./people.ts";
import type { ReadRow } from "./read-row.ts";
import { contactIssues, firstOfEachField } from "./row-issues.ts";

/** An invalid row, and all its problems. */
export interface InvalidRow {
  readonly row: ReadRow;
  readonly issues: readonly RowIssue[];
}

/** The valid and the invalid rows. */
export interface CheckedRows {
  readonly valid: readonly ReadRow[];
  readonly invalid: readonly InvalidRow[];
}

/** Checks every row. The returned contacts have the strictest consent of their address and number. */
export function checkRows(rows: readonly ReadRow[]): CheckedRows {
  const people = new People();
  for (const row of rows) people.add(row);
  people.settle();
  const valid: ReadRow[] = [];
  const invalid: InvalidRow[] = [];
  for (const read of rows) {
    const row = { ...read, contact: withConsent(read, people) };
    const issues = firstOfEachField([
      ...row.issues,
      ...contactIssues(row.contact),
      ...unreadableLineIssues(read, people),
      ...unclearIssues(read, people),
      ...refusedIssues(row.contact, people.consentOf(read)),
      ...sharedPhoneIssues(read, people),
    ]);
    if (issues.length > 0) invalid.push({ row, issues });
    else valid.push(row);
  }
  return { valid, invalid };
}

/** The row's contact with its person's consent. A channel without a consent is left out. */
export function withConsent(row: ReadRow, people: People): Contact {
  const { email, phone, isSuppressed } = people.consentOf(row);
  const { contact, said } = row;
  return {
    ...contact,
    ...(email !== undefined && (contact.email !== undefined || said.email.isRefusedByName)
      ? { email_opt_in: email }
      : {}),
    ...(phone !== undefined && (contact.phone !== undefined || said.phone.isRefusedByName)
      ? { phone_opt_in: phone }
      : {}),
    // Never false: a file must not end a suppression.
    ...(isSuppressed ? { is_suppressed: true } : {}),
  };
}

/** The issues of words that hold back: the person's rows are not sent. */
export function unclearIssues(row: ReadRow, people: People): RowIssue[] {
  return people.consentOf(row).unclear.map((channel) => {
    const words = row.said[channel].notUnderstood;
    const message =
      words.length === 0
        ? "another row about this person has a word of consent that holds it back"
        : `is not known (${words.join("; ")})`;
    return { field: `${channel} consent`, message };
  });
}

/** The issues of plain refusals in any cell, where something better would be sent. */
export function refusedIssues(
  { email_opt_in, phone_opt_in }: Contact,
  { refusals }: PersonConsent,
): RowIssue[] {
  const stated = { email: email_opt_in, phone: phone_opt_in };
  return (["email", "phone"] as const).flatMap((channel) => {
    const [optIn, refusal] = [stated[channel], refusals[channel]];
    if (optIn === undefined || stricter(optIn, refusal) === optIn) return [];
    const message =
      `would be ${optIn}, but a cell about this person is a plain refusal. ` +
      "Give this word a meaning in the map, in its column, or leave the person as refused";
    return [{ field: `${channel} consent`, message }];
  });
}

/** The issue of a person who may also be in a line that cannot be read: none of the person's rows is sent. */
export function unreadableLineIssues(row: ReadRow, people: People): RowIssue[] {
  const cause = people.rowInDoubt(row);
  if (cause === undefined) return [];
  const message =
    `${basename(cause)}, may be about this person, and may hold a refusal: it has another number of cells than ` +
    "headings, or an address or number in it or in this row cannot be read";
  return [{ field: "row", message }];
}

// The service treats two rows with one number as one contact ("POST /api/v1/customer/create"), so two people who share
// a telephone would overwrite each other.
/** The issue of a number that also belongs to another address. */
export function sharedPhoneIssues(row: ReadRow, people: People): RowIssue[] {
  const owner = people.ownerOfPhone(row);
  if (owner === undefined) return [];
  return [
    {
      field: "phone",
      message: `is also the number of ${owner}: the service would treat both as one contact`,
    },
  ];
}
