import { v1ContactSchema } from "audience-sdk/schemas";
import { inOneLine } from "../exports/column-map.ts";
import { quoted } from "../exports/contact-values.ts";
import { channels, type Contact, type RowIssue } from "../exports/contact.ts";
import type { People } from "../exports/people.ts";
import { type Note, type ReadRow, readRow, sentAsProperty } from "../exports/read-row.ts";
import { always, stateOf, valueOf, type Words } from "../exports/row-words.ts";
import { anyOther } from "../exports/words.ts";
import type { ImporterArguments } from "./arguments.ts";
import type { FileSurvey, Survey } from "./survey.ts";

/** A row as it is sent: with its person's consent, and without invalid values. */
export interface RowToSend {
  readonly file: FileSurvey;
  readonly row: ReadRow;
  readonly contact: Contact;
  /** The reasons not to send the row. */
  readonly issues: readonly RowIssue[];
  /** The opt-outs that are sent by themselves, if the row has issues, or the service refuses it. */
  readonly refusals: Contact | undefined;
  readonly notes: readonly Note[];
  /** Whether it is SUBSCRIBED by `--consent` alone. */
  readonly isOnlyMeant: boolean;
}

type RowOptions = Pick<ImporterArguments, "consent" | "listId">;

/** Reads the files again, and completes each row with the results of the survey. */
export async function* rowsToSend(survey: Survey, options: RowOptions): AsyncGenerator<RowToSend> {
  for (const file of survey.files)
    for await (const row of file.plan.file.rows())
      yield { file, ...rowToSend(readRow(file.plan, row), survey, options) };
}

function rowToSend(
  row: ReadRow,
  { people }: Survey,
  { consent, listId }: RowOptions,
): Omit<RowToSend, "file"> {
  const words = people.wordsOf(row);
  const { contact: own, notes } = withoutSharedPhone(row, people);
  const known = withConsent(own, row, words);
  // The user's consent replaces no word.
  const channel = known.email === undefined ? "phone" : "email";
  const field = `${channel}_opt_in` as const;
  const isUnstated = consent !== undefined && consent !== "keep" && known[field] === undefined;
  const isUnnamed = isUnstated && consent === "SUBSCRIBED" && words[channel] > 0;
  const isMeant = isUnstated && !isUnnamed;
  const contact = isMeant ? { ...known, [field]: consent } : known;
  // The service asks by mail who is to confirm.
  if (contact.email_opt_in !== "SUBSCRIBED") delete contact.double_opt_in;
  const issues = row.issues.length > 0 ? row.issues : contactIssues(contact);
  const isNamed = !issues.some((issue) => ["email", "phone", "row"].includes(issue.field));
  const held = heldIssues(row, words, contact, people);
  const unnamed = channels
    .filter((each) => stateOf(row.words[each]) === "SUBSCRIBED" && contact[each] === undefined)
    .map((each) => ({ remark: `it has an opt-in without the ${each}, which is not sent` }));
  const remark = '--consent SUBSCRIBED does not answer a word about the person that the map has only as "*"';
  return {
    row,
    contact,
    issues: firstOfEachField([...issues, ...held, ...(listId === undefined ? [] : listIssues(contact))]),
    refusals: isNamed ? refusalsOf(contact, row, words) : undefined,
    notes: [...row.notes, ...notes, ...unnamed, ...(isUnnamed ? [{ remark }] : [])],
    isOnlyMeant: isMeant && contact[field] === "SUBSCRIBED",
  };
}

/** The issues of a contact for the list. */
function listIssues({ email, email_opt_in }: Contact): RowIssue[] {
  const missing = "is missing: a contact with a phone alone cannot be added to a list";
  const unstated =
    "is unstated, and adding to a list could change the contact's consent: state it in the map or with " +
    "--consent, or import the row without --list";
  if (email === undefined) return [{ field: "email", message: missing }];
  return email_opt_in === undefined ? [{ field: "email consent", message: unstated }] : [];
}

// The service treats two rows with one number as one contact ("POST /api/v1/customer/create"), so two people who share
// a telephone would overwrite each other.
function withoutSharedPhone(row: ReadRow, people: People): Pick<RowToSend, "contact" | "notes"> {
  const { contact } = row;
  const cell = row.cells.get("phone");
  const owner = people.ownerOfPhone(row);
  if (cell === undefined || owner === undefined) return { contact, notes: [] };
  const { phone: _, custom_properties, ...others } = contact;
  const { column, text } = cell;
  const what = "the number of another person, which the service would treat as one contact";
  const message = `is also the number of ${owner}: the service would treat both as one contact`;
  return {
    contact: { ...others, custom_properties: { ...custom_properties, [column.property]: text } },
    notes: [{ remark: sentAsProperty(column, what), issue: { field: "phone", message } }],
  };
}

/**
 * The opt-outs of a row, to be sent alone, so that an issue in another column does not keep a person subscribed. With the
 * address only if it is refused itself, or the person is suppressed, or nothing else names the person, because a missing
 * consent might change.
 */
function refusalsOf({ email, phone }: Contact, row: ReadRow, words: Readonly<Words>): Contact | undefined {
  const [isOfEmail, isOfPhone] = channels.map((channel) => stateOf(words[channel]) === "UNSUBSCRIBED");
  const suppressed = words.isSuppressed > 0 ? { is_suppressed: true } : {};
  const phoneOut = isOfPhone ? { phone_opt_in: "UNSUBSCRIBED" as const } : {};
  if (email !== undefined && isOfEmail)
    return {
      email,
      email_opt_in: "UNSUBSCRIBED",
      ...(phone !== undefined || row.words.phone > 1 ? phoneOut : {}),
      ...suppressed,
    };
  const isOfNumber = isOfPhone && phone !== undefined;
  if (isOfNumber && (email === undefined || words.isSuppressed === 0))
    return { phone, ...phoneOut, ...suppressed };
  if (email === undefined || (words.isSuppressed === 0 && !(isOfPhone && row.words.phone > 1)))
    return undefined;
  return { email, ...(isOfNumber ? { phone } : {}), ...phoneOut, ...suppressed };
}

/** The issues of a contact by the documented rules, with the values. */
function contactIssues(contact: Contact): RowIssue[] {
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

export function issuesInOneLine(issues: readonly RowIssue[]): string {
  return issues.map(({ field, message }) => `${field}: ${message}`).join("; ");
}

/** The first issue of each field: an invalid cell is not also reported as missing. */
function firstOfEachField(issues: readonly RowIssue[]): RowIssue[] {
  return issues.filter(({ field }, index) => issues.findIndex((other) => other.field === field) === index);
}

/** The contact with its person's consent. A channel without a consent is left out. */
function withConsent(own: Contact, row: ReadRow, words: Readonly<Words>): Contact {
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
function heldIssues(row: ReadRow, words: Readonly<Words>, contact: Contact, people: People): RowIssue[] {
  if (row.source.shapeIssue) return [];
  return channels.flatMap((channel): RowIssue[] => {
    const field = `${channel} consent`;
    const hold = words[`${channel}Hold`];
    const optIn = contact[`${channel}_opt_in`];
    // A consent that is left out may stay an opt-in at the service.
    const isAsStrict = hold <= (optIn === undefined ? 0 : valueOf(optIn));
    if (hold !== always && (isAsStrict || (contact[channel] ?? optIn) === undefined)) return [];
    const refusing = people.refusingRow(row);
    if (hold === always || refusing === undefined) {
      const ofAnother = "another row about this person has a word that holds it back, or cannot be read";
      return [{ field, message: `is held back: ${row.held[channel].join("; ") || ofAnother}` }];
    }
    const state =
      optIn === undefined ? "is unstated, which may leave the person subscribed" : `would be ${optIn}`;
    const cells = refusing.refusing.map(({ column: { name, use }, word, refused }) => {
      // A column of addresses or numbers can be no consent.
      if (use === "email" || use === "phone") return "";
      const consent = refused.length > 1 ? "both" : "email";
      const known = typeof use === "object" ? use.rule : { consent, words: { [anyOther]: "none" } };
      const ofEach = Object.fromEntries(refused.map((each) => [each, "UNSUBSCRIBED"]));
      const meaning = known.consent === consent ? "UNSUBSCRIBED" : ofEach;
      const rule = { consent: known.consent, words: { ...known.words, [word]: meaning } };
      return `; to send it, write ${JSON.stringify(name)}: ${inOneLine(rule)} in the map`;
    });
    const where = refusing === row ? "a cell" : `a cell of row ${refusing.number} of ${refusing.file}`;
    const who = contact.email ?? contact.phone ?? "the person";
    return [{ field, message: `${state}, but ${where} about ${who} is a plain refusal${cells.join("")}` }];
  });
}

export const refusalsAreSent = "; its opt-outs are sent anyway";

/** The reason why the row is not sent. */
export function reasonIn({ issues, refusals }: RowToSend): string {
  return `${issuesInOneLine(issues)}${refusals === undefined ? "" : refusalsAreSent}`;
}
