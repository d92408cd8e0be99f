import { inOneLine } from "./column-map.ts";
import { channels, type Contact, type RowIssue } from "./contact.ts";
import { People } from "./people.ts";
import type { ReadRow } from "./read-row.ts";
import { contactIssues, firstOfEachField } from "./row-issues.ts";
import { valueOf, type Words } from "./row-words.ts";
import { anyOther } from "./words.ts";

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
      ...heldIssues(read, people.consentOf(read).words, row.contact),
      ...sharedPhoneIssues(read, people),
    ]);
    if (issues.length > 0) invalid.push({ row, issues });
    else valid.push(row);
  }
  return { valid, invalid };
}

/** The row's contact with its person's consent. A channel without a consent is left out. */
export function withConsent(row: ReadRow, people: People): Contact {
  const consent = people.consentOf(row);
  const contact: Contact = { ...row.contact };
  for (const channel of channels) {
    const optIn = consent[channel];
    // A column that refuses a channel does so also without an address or number.
    if (optIn !== undefined && (contact[channel] !== undefined || row.words[channel] > 1))
      contact[`${channel}_opt_in`] = optIn;
  }
  // Never false: a file must not end a suppression.
  return consent.isSuppressed ? { ...contact, is_suppressed: true } : contact;
}

/** The issues that hold the person's rows back: words that nobody has answered, and plain refusals in any cell. */
export function heldIssues(row: ReadRow, words: Readonly<Words>, contact: Contact): RowIssue[] {
  if (row.source.isMisshapen) return [];
  return channels.flatMap((channel): RowIssue[] => {
    const field = `${channel} consent`;
    if (words[`${channel}Hold`] > 0) {
      const own = row.held[channel].join("; ");
      const message =
        own === ""
          ? "is held back: another row about this person has a word that holds it back, or cannot be read"
          : `is held back: ${own}`;
      return [{ field, message }];
    }
    const optIn = contact[`${channel}_opt_in`];
    const floor = words[`${channel}Floor`];
    if (optIn === undefined || floor <= valueOf(optIn)) return [];
    const cells = row.refusing.map(({ column, word, refusal }) => {
      const consent = refusal.channels.length > 1 ? "both" : "email";
      const rule = { consent, words: { [word]: refusal.optIn, [anyOther]: "none" } };
      return `; to send it, write ${JSON.stringify(column.name)}: ${inOneLine(rule)} in the map`;
    });
    const where = row.refusing.length === 0 ? "a cell of another row" : "a cell";
    const who = contact.email ?? contact.phone ?? "the person";
    return [
      { field, message: `would be ${optIn}, but ${where} about ${who} is a plain refusal${cells.join("")}` },
    ];
  });
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
