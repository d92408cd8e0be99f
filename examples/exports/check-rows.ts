import type { Contact, RowIssue } from "./contact.ts";
import { People } from "./people.ts";
import type { ReadRow } from "./read-row.ts";
import { contactIssues, firstOfEachField } from "./row-issues.ts";

/** A row that is not sent, and everything that is wrong with it. */
export interface InvalidRow {
  readonly row: ReadRow;
  readonly issues: readonly RowIssue[];
}

/** The rows that can be sent, and those that cannot. */
export interface CheckedRows {
  readonly valid: readonly ReadRow[];
  readonly invalid: readonly InvalidRow[];
}

/** Checks every row, sends nothing. The contacts that come back carry the strictest consent of its address and number. */
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
      ...unclearIssues(read, people),
      ...sharedPhoneIssues(read, people),
    ]);
    if (issues.length > 0) invalid.push({ row, issues });
    else valid.push(row);
  }
  return { valid, invalid };
}

/** The row's contact with its person's consent. A channel of which nothing is said is left out: it stays as it is. */
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
    // Never false: that somebody is not suppressed here does not release who is suppressed there.
    ...(isSuppressed ? { is_suppressed: true } : {}),
  };
}

/** A word of consent that could mean anything keeps the person's rows from being sent. */
export function unclearIssues(row: ReadRow, people: People): RowIssue[] {
  return people.consentOf(row).unclear.map((channel) => {
    const words = row.said[channel].notUnderstood;
    const message =
      words.length === 0
        ? "another row about this person has a word of consent that is not understood"
        : `is not understood (${words.join("; ")}): write subscribed, unsubscribed or not subscribed`;
    return { field: `${channel} consent`, message };
  });
}

// The service takes two rows with one number for one contact ("POST /api/v1/customer/create"), so two people who share
// a telephone would be written over each other.
/** That the number is another address's too. */
export function sharedPhoneIssues(row: ReadRow, people: People): RowIssue[] {
  const owner = people.ownerOfPhone(row);
  if (owner === undefined) return [];
  return [
    { field: "phone", message: `is the number of ${owner} too: the service would take both for one contact` },
  ];
}
