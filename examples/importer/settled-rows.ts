import type { Snapshot } from "audience-sdk/snapshot";
import {
  refusedIssues,
  sharedPhoneIssues,
  unclearIssues,
  unreadableLineIssues,
  withConsent,
} from "../exports/check-rows.ts";
import type { Contact, OptIn, RowIssue } from "../exports/contact.ts";
import { shownHeading } from "../exports/file-plan.ts";
import type { PersonConsent } from "../exports/people.ts";
import { type ReadRow, readRow } from "../exports/read-row.ts";
import { contactIssues, firstOfEachField, inOneLine } from "../exports/row-issues.ts";
import type { ImporterArguments } from "./arguments.ts";
import { knownRefusals } from "./known-refusals.ts";
import { hasConsents, type Survey } from "./survey.ts";
import type { Target } from "./target.ts";

/** A row as it is sent: with its person's consent, and without invalid values. */
export interface SettledRow {
  readonly row: ReadRow;
  readonly contact: Contact;
  /** The person's consent over all files. */
  readonly consent: PersonConsent;
  /** The reasons not to send the row. */
  readonly issues: readonly RowIssue[];
  /** The opt-outs that are sent by themselves, if the row has issues, or the service refuses it. */
  readonly refusals: Contact | undefined;
  /** Remarks on unexpected changes. */
  readonly remarks: readonly string[];
  /** Whether it needed no `--consent`, because its file has consents. */
  readonly isOfFileWithConsents: boolean;
  /** Whether somebody else may not be sent, because this row may hold their refusal, or a word that is not known. */
  readonly stopsSomebody: boolean;
}

/** Reads the files again, and completes each row with the results of the survey. */
export async function* settledRows(
  survey: Survey,
  target: Target,
  options: ImporterArguments,
  snapshot?: Snapshot,
): AsyncGenerator<SettledRow> {
  for (const file of survey.files) {
    const { plan } = file;
    const isOfFileWithConsents =
      options.consent === undefined && (hasConsents(file) || file.isReportOfConsents);
    for await (const row of plan.file.rows()) {
      const settled = settle(readRow(plan, row), survey, target, options, snapshot);
      yield { ...settled, isOfFileWithConsents };
    }
  }
}

function settle(
  row: ReadRow,
  { people }: Survey,
  target: Target,
  options: ImporterArguments,
  snapshot: Snapshot | undefined,
): Omit<SettledRow, "isOfFileWithConsents"> {
  const consent = people.consentOf(row);
  const consented = withMeantConsent(withConsent(row, people), options);
  const shared = sharedPhoneIssues(row, people);
  const found = firstOfEachField([...row.issues, ...contactIssues(consented), ...shared]);
  const unreadable = unreadableLineIssues(row, people);
  const held = [...unclearIssues(row, people), ...refusedIssues(consented, consent)];
  const { contact, issues, remarks } = withoutRefusedValues(row, consented, found, {
    target,
    shared,
  });
  const known = knownRefusals(contact, snapshot);
  const elsewhere = consent.stricterElsewhere.map(
    (channel) => `another row about the person has a stricter ${channel} consent, which counts`,
  );
  const unnamed = (["email", "phone"] as const)
    .filter((channel) => row.said[channel].optIn === "SUBSCRIBED" && contact[channel] === undefined)
    .map((channel) => `it has an opt-in without the ${channel}, which is not sent`);
  const suppression =
    contact.is_suppressed && !target.hasCustomProperties
      ? ["the suppression is left out, as v2 has no such field"]
      : [];
  const all = firstOfEachField([
    ...issues,
    ...unreadable,
    ...held,
    ...known,
    ...target.issuesOf(contact, row),
  ]);
  const isNamed = !issues.some(({ field }) => ["email", "phone", "row"].includes(field));
  return {
    row,
    contact,
    consent,
    issues: all,
    refusals:
      isNamed && target.acceptsRefusals
        ? refusalsOf(contact, row, consent, unreadable.length + held.length + known.length > 0)
        : undefined,
    remarks: [...remarks, ...elsewhere, ...unnamed, ...suppression],
    stopsSomebody:
      people.stopsSomebody(row) ||
      [row.said.email, row.said.phone].some(({ notUnderstood }) => notUnderstood.length > 0),
  };
}

/**
 * The opt-outs of a row with issues are sent alone, so that an issue in another column does not keep a person subscribed.
 * The address only with its own opt-out, because a missing consent might change; else the number's by the number alone.
 */
function refusalsOf(
  { email, phone }: Contact,
  { said }: ReadRow,
  consent: PersonConsent,
  mayHaveUnsubscribed: boolean,
): Contact | undefined {
  // A line that cannot be read, an unnamed word and a plain refusal may be an UNSUBSCRIBED, and the service may know one.
  // NON_SUBSCRIBED must not replace it.
  const isRefusal = (optIn: OptIn | undefined) =>
    optIn === "UNSUBSCRIBED" || (optIn === "NON_SUBSCRIBED" && !mayHaveUnsubscribed);
  if (email === undefined || !isRefusal(consent.email))
    return phone !== undefined && isRefusal(consent.phone)
      ? { phone, phone_opt_in: consent.phone }
      : undefined;
  const isOfPhone = isRefusal(consent.phone) && (phone !== undefined || said.phone.isRefusedByName);
  return {
    email,
    email_opt_in: consent.email,
    ...(isOfPhone ? { phone_opt_in: consent.phone } : {}),
    ...(consent.isSuppressed ? { is_suppressed: true } : {}),
  };
}

export const refusalsAreSent = "; its opt-outs are sent anyway";

/** The reason why the row is not sent. */
export function reasonIn({ issues, refusals }: SettledRow): string {
  return `${inOneLine(issues)}${refusals === undefined ? "" : refusalsAreSent}`;
}

/** Fills in the user's `--consent` if the files have none; it replaces no word. */
function withMeantConsent(contact: Contact, { consent }: Pick<ImporterArguments, "consent">): Contact {
  if (consent === undefined || consent === "keep") return contact;
  const field = contact.email === undefined ? "phone_opt_in" : "email_opt_in";
  return contact[field] === undefined ? { ...contact, [field]: consent } : contact;
}

/**
 * Moves invalid values to custom properties, so that they do not block the row and its opt-outs. An invalid identifier
 * still blocks the row.
 */
function withoutRefusedValues(
  row: ReadRow,
  contact: Contact,
  found: readonly RowIssue[],
  { target, shared }: { target: Target; shared: readonly RowIssue[] },
): { contact: Contact; issues: RowIssue[]; remarks: string[] } {
  const issues: RowIssue[] = [];
  const remarks: string[] = [];
  const left: Record<string, unknown> = { ...contact };
  const properties = { ...contact.custom_properties };
  for (const issue of found) {
    const cell = row.cells.get(issue.field);
    const isOfPerson = issue.field === "email" || (issue.field === "phone" && contact.email === undefined);
    if (issue.field === "Birthday") remarks.push("the birthday is not a valid day");
    else if (cell === undefined || isOfPerson) issues.push(withHint(issue));
    else {
      const { property } = cell.column;
      properties[property] = cell.text;
      delete left[issue.field];
      if (issue.field === "phone" && !row.said.phone.isRefusedByName) delete left["phone_opt_in"];
      const becomes = target.hasCustomProperties
        ? `is sent as the custom property ${property}`
        : "is left out";
      const holds = shared.includes(issue)
        ? "the number of another person, which the service would treat as one contact"
        : `no ${issue.field} that can be sent`;
      remarks.push(`${shownHeading(cell.column)} holds ${holds}, and ${becomes}`);
    }
  }
  if (remarks.length === 0) return { contact, issues, remarks };
  // Safe: the same contact, with fields taken out.
  const corrected: Contact = { ...(left as Contact), custom_properties: properties };
  const isNew = (issue: RowIssue) => !issues.some(({ field }) => field === issue.field);
  return {
    contact: corrected,
    issues: [...issues, ...contactIssues(corrected).filter(isNew).map(withHint)],
    remarks,
  };
}

function withHint(issue: RowIssue): RowIssue {
  if (issue.field !== "custom_properties") return issue;
  return {
    ...issue,
    message: `${issue.message}; leave columns out with "ignore" in the map`,
  };
}
