import { channels, type Contact, type RowIssue } from "../exports/contact.ts";
import { shownHeading } from "../exports/file-plan.ts";
import { type ReadRow, readRow } from "../exports/read-row.ts";
import {
  contactIssues,
  firstOfEachField,
  heldIssues,
  issuesInOneLine,
  sharedPhoneIssues,
  withConsent,
} from "../exports/row-issues.ts";
import { stateOf, type Words } from "../exports/row-words.ts";
import type { ImporterArguments } from "./arguments.ts";
import type { FileSurvey, Survey } from "./survey.ts";
import { listIssues } from "./target.ts";

/** A row as it is sent: with its person's consent, and without invalid values. */
export interface RowToSend {
  readonly file: FileSurvey;
  readonly row: ReadRow;
  readonly contact: Contact;
  /** The reasons not to send the row. */
  readonly issues: readonly RowIssue[];
  /** The opt-outs that are sent by themselves, if the row has issues, or the service refuses it. */
  readonly refusals: Contact | undefined;
  /** Remarks on unexpected changes. */
  readonly remarks: readonly string[];
  /** Whether it is SUBSCRIBED by `--consent` alone. */
  readonly isOnlyMeant: boolean;
}

/** Reads the files again, and completes each row with the results of the survey. */
export async function* rowsToSend(survey: Survey, options: ImporterArguments): AsyncGenerator<RowToSend> {
  for (const file of survey.files)
    for await (const row of file.plan.file.rows())
      yield { file, ...rowToSend(readRow(file.plan, row), survey, options) };
}

function rowToSend(
  row: ReadRow,
  { people }: Survey,
  { consent, listId }: ImporterArguments,
): Omit<RowToSend, "file"> {
  const { words } = people.consentOf(row);
  const known = withConsent(row, people);
  // The user's consent replaces no word.
  const field = known.email === undefined ? "phone_opt_in" : "email_opt_in";
  const isMeant = consent !== undefined && consent !== "keep" && known[field] === undefined;
  const consented = isMeant ? { ...known, [field]: consent } : known;
  const { contact, issues, remarks } = withoutInvalidValues(row, consented, sharedPhoneIssues(row, people));
  const isNamed = !issues.some((issue) => ["email", "phone", "row"].includes(issue.field));
  const all = [
    ...issues,
    ...heldIssues(row, words, contact),
    ...(listId === undefined ? [] : listIssues(contact)),
  ];
  const unnamed = channels
    .filter((channel) => stateOf(row.words[channel]) === "SUBSCRIBED" && contact[channel] === undefined)
    .map((channel) => `it has an opt-in without the ${channel}, which is not sent`);
  return {
    row,
    contact,
    issues: firstOfEachField(all),
    refusals: isNamed ? refusalsOf(contact, row, words) : undefined,
    remarks: [...row.remarks, ...remarks, ...unnamed],
    isOnlyMeant: isMeant && contact[field] === "SUBSCRIBED",
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

/**
 * Moves invalid values to custom properties, so that they do not block the row and its opt-outs. An invalid identifier
 * still blocks the row.
 */
function withoutInvalidValues(
  row: ReadRow,
  contact: Contact,
  shared: readonly RowIssue[],
): { contact: Contact; issues: RowIssue[]; remarks: string[] } {
  const found = firstOfEachField([...row.issues, ...contactIssues(contact), ...shared]);
  const issues: RowIssue[] = [];
  const remarks: string[] = [];
  const left: Record<string, unknown> = { ...contact };
  const properties = { ...contact.custom_properties };
  for (const issue of found) {
    const cell = row.cells.get(issue.field);
    const isOfPerson = issue.field === "email" || (issue.field === "phone" && contact.email === undefined);
    if (cell === undefined || isOfPerson) issues.push(issue);
    else {
      const { property } = cell.column;
      properties[property] = cell.text;
      delete left[issue.field];
      if (issue.field === "phone" && row.words.phone < 2) delete left["phone_opt_in"];
      const holds = shared.includes(issue)
        ? "the number of another person, which the service would treat as one contact"
        : `no ${issue.field} that can be sent`;
      remarks.push(
        `${shownHeading(cell.column)} holds ${holds}, and is sent as the custom property ${property}`,
      );
    }
  }
  // Safe: the same contact, with fields taken out.
  const corrected: Contact =
    remarks.length === 0 ? contact : { ...(left as Contact), custom_properties: properties };
  const isNew = ({ field }: RowIssue) => !issues.some((issue) => issue.field === field);
  const all = remarks.length === 0 ? issues : [...issues, ...contactIssues(corrected).filter(isNew)];
  return { contact: corrected, issues: all.map(withHint), remarks };
}

function withHint(issue: RowIssue): RowIssue {
  if (issue.field !== "custom_properties") return issue;
  return { ...issue, message: `${issue.message}; leave columns out with "ignore" in the map` };
}
