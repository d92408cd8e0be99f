import { v1ContactSchema } from "audience-sdk/schemas";
import { inOneLine } from "./column-map.ts";
import { quoted } from "./contact-values.ts";
import { channels, type Contact, type RowIssue } from "./contact.ts";
import type { ReadRow } from "./read-row.ts";
import { always, stateOf, valueOf, type Words } from "./row-words.ts";
import { anyOther } from "./words.ts";

/** The issues of a contact by the documented rules, with the values. */
export function contactIssues(contact: Contact): RowIssue[] {
  const checked = v1ContactSchema.safeParse(contact);
  if (checked.success) return [];
  const values = new Map<string, unknown>(Object.entries(contact));
  return checked.error.issues.map(({ path, message }) => {
    const field = path.map(String).join(".") || "row";
    const value = values.get(field);
    if (field === "custom_properties")
      return { field, message: `${message}; leave columns out with "ignore" in the map` };
    return { field, message: typeof value === "string" ? `${message}: ${quoted(value)}` : message };
  });
}

/** Issues in one line. */
export function issuesInOneLine(issues: readonly RowIssue[]): string {
  return issues.map(({ field, message }) => `${field}: ${message}`).join("; ");
}

/** The first issue of each field: an invalid cell is not also reported as missing. */
export function firstOfEachField(issues: readonly RowIssue[]): RowIssue[] {
  return issues.filter(({ field }, index) => issues.findIndex((other) => other.field === field) === index);
}

/** The contact with its person's consent. A channel without a consent is left out. */
export function withConsent(own: Contact, row: ReadRow, words: Readonly<Words>): Contact {
  const contact: Contact = { ...own };
  for (const channel of channels) {
    const optIn = stateOf(words[channel]);
    // A column that refuses a channel does so also without an address or number.
    if (optIn !== undefined && (own[channel] !== undefined || row.words[channel] > 1))
      contact[`${channel}_opt_in`] = optIn;
  }
  // Never false: a file must not end a suppression.
  return words.isSuppressed > 0 ? { ...contact, is_suppressed: true } : contact;
}

/** The issues that hold the person's rows back: words that nobody has answered, and plain refusals in any cell. */
export function heldIssues(row: ReadRow, words: Readonly<Words>, contact: Contact): RowIssue[] {
  if (row.source.isMisshapen) return [];
  return channels.flatMap((channel): RowIssue[] => {
    const field = `${channel} consent`;
    const hold = words[`${channel}Hold`];
    if (hold === always) {
      const own = row.held[channel].join("; ");
      const message =
        own === ""
          ? "is held back: another row about this person has a word that holds it back, or cannot be read"
          : `is held back: ${own}`;
      return [{ field, message }];
    }
    const optIn = contact[`${channel}_opt_in`];
    if (optIn === undefined || hold <= valueOf(optIn)) return [];
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
