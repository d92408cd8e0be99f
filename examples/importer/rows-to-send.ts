import { channels, type Contact, type RowIssue } from "../exports/contact.ts";
import type { People } from "../exports/people.ts";
import { type ReadRow, readRow, sentAsProperty } from "../exports/read-row.ts";
import {
  contactIssues,
  firstOfEachField,
  heldIssues,
  issuesInOneLine,
  withConsent,
} from "../exports/row-issues.ts";
import { stateOf, type Words } from "../exports/row-words.ts";
import type { ImporterArguments } from "./arguments.ts";
import type { FailedRows } from "./failed-rows.ts";
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
  /** The problems of the values that are sent as custom properties. */
  readonly moved: readonly RowIssue[];
  /** Remarks on unexpected changes. */
  readonly remarks: readonly string[];
  /** Whether it is SUBSCRIBED by `--consent` alone. */
  readonly isOnlyMeant: boolean;
}

/** Reads the files again, and completes each row with the results of the survey. */
export async function* rowsToSend(
  survey: Survey,
  options: Pick<ImporterArguments, "consent" | "listId"> = { consent: undefined, listId: undefined },
): AsyncGenerator<RowToSend> {
  for (const file of survey.files)
    for await (const row of file.plan.file.rows())
      yield { file, ...rowToSend(readRow(file.plan, row), survey, options) };
}

/** Checks each row as it would be sent. Sends nothing. */
export async function checkAll(
  survey: Survey,
  options: ImporterArguments,
  { failed, signal }: { failed: FailedRows; signal: AbortSignal },
): Promise<void> {
  for await (const row of rowsToSend(survey, options)) {
    signal.throwIfAborted();
    row.file.check(row);
    if (row.issues.length > 0) await failed.add(row, reasonIn(row));
  }
}

function rowToSend(
  row: ReadRow,
  { people }: Survey,
  { consent, listId }: Pick<ImporterArguments, "consent" | "listId">,
): Omit<RowToSend, "file"> {
  const words = people.wordsOf(row);
  const { contact: own, moved, remarks } = withoutSharedPhone(row, people);
  const known = withConsent(own, row, words);
  // The user's consent replaces no word.
  const field = known.email === undefined ? "phone_opt_in" : "email_opt_in";
  const isMeant = consent !== undefined && consent !== "keep" && known[field] === undefined;
  const contact = isMeant ? { ...known, [field]: consent } : known;
  const issues = row.issues.length > 0 ? row.issues : contactIssues(contact);
  const isNamed = !issues.some((issue) => ["email", "phone", "row"].includes(issue.field));
  const held = heldIssues(row, words, contact);
  const unnamed = channels
    .filter((channel) => stateOf(row.words[channel]) === "SUBSCRIBED" && contact[channel] === undefined)
    .map((channel) => `it has an opt-in without the ${channel}, which is not sent`);
  return {
    row,
    contact,
    issues: firstOfEachField([...issues, ...held, ...(listId === undefined ? [] : listIssues(contact))]),
    refusals: isNamed ? refusalsOf(contact, row, words) : undefined,
    moved: [...row.moved, ...moved],
    remarks: [...row.remarks, ...remarks, ...unnamed],
    isOnlyMeant: isMeant && contact[field] === "SUBSCRIBED",
  };
}

/** The issues of a contact for the list. */
function listIssues({ email, email_opt_in }: Contact): RowIssue[] {
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

// The service treats two rows with one number as one contact ("POST /api/v1/customer/create"), so two people who share
// a telephone would overwrite each other.
function withoutSharedPhone(row: ReadRow, people: People): Pick<RowToSend, "contact" | "moved" | "remarks"> {
  const { contact } = row;
  const cell = row.cells.get("phone");
  const owner = people.ownerOfPhone(row);
  if (cell === undefined || owner === undefined) return { contact, moved: [], remarks: [] };
  const { phone: _, custom_properties, ...others } = contact;
  const { column, text } = cell;
  const what = "the number of another person, which the service would treat as one contact";
  return {
    contact: { ...others, custom_properties: { ...custom_properties, [column.property]: text } },
    moved: [
      {
        field: "phone",
        message: `is also the number of ${owner}: the service would treat both as one contact`,
      },
    ],
    remarks: [sentAsProperty(column, what)],
  };
}

/**
 * The opt-outs of a row, to be sent alone, so that an issue in another column does not keep a person subscribed. With the
 * address only if it is refused itself, or nothing else names the person, because a missing consent might change.
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
  if (isOfPhone && phone !== undefined) return { phone, ...phoneOut, ...suppressed };
  if (email === undefined || (words.isSuppressed === 0 && !(isOfPhone && row.words.phone > 1)))
    return undefined;
  return { email, ...phoneOut, ...suppressed };
}

export const refusalsAreSent = "; its opt-outs are sent anyway";

/** The reason why the row is not sent. */
export function reasonIn({ issues, refusals }: RowToSend): string {
  return `${issuesInOneLine(issues)}${refusals === undefined ? "" : refusalsAreSent}`;
}
