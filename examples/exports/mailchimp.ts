import type { CsvRow, RowIssue } from "./csv-row.ts";
import { customProperties } from "./custom-properties.ts";
import type { ConsentEvidence, Contact, MappedContact } from "./mapped-contact.ts";
import { readPhone } from "./phone.ts";

/** The sections of an audience. The export is one file for each, named after it. */
export type MailchimpSection = "subscribed" | "unsubscribed" | "cleaned" | "nonsubscribed";

/** Whether these are the headings of an audience export. */
export function isMailchimpExport(headings: readonly string[]): boolean {
  return headings.includes("Email Address") && headings.includes("LEID");
}

/** The section that a file holds. A name that tells nothing is read as the section without consent, never as a better one. */
export function mailchimpSection(fileName: string): MailchimpSection {
  if (fileName.startsWith("subscribed_")) return "subscribed";
  if (fileName.startsWith("unsubscribed_")) return "unsubscribed";
  if (fileName.startsWith("cleaned_")) return "cleaned";
  return "nonsubscribed";
}

const contactHeadings = ["Email Address", "First Name", "Last Name", "Phone Number", "CC", "REGION"];

/**
 * A row of an audience export as a contact.
 *
 * The address is one cell whose parts are not marked, and the birthday has no year: both stay custom properties.
 * The export holds e-mail consent only, so a telephone number comes without consent.
 */
export function mailchimpContact(row: CsvRow, section: MailchimpSection): MappedContact {
  const written = row.cell("Phone Number");
  const reading = written === undefined ? undefined : readPhone(written);
  const phone = reading !== undefined && "phone" in reading ? reading.phone : undefined;
  // A member is known by the address in lower case, so that is the address.
  const email = row.cell("Email Address")?.toLowerCase();
  const contact: Contact = {
    email,
    phone,
    first_name: row.cell("First Name"),
    last_name: row.cell("Last Name"),
    country: row.cell("CC"),
    state: row.cell("REGION"),
    ...(email === undefined ? {} : emailConsent(row, section)),
    phone_opt_in: phone === undefined ? undefined : "NON_SUBSCRIBED",
    source: "mailchimp",
    custom_properties: customProperties(row, { prefix: "mailchimp", except: contactHeadings }),
  };
  const phoneIssues =
    reading !== undefined && "problem" in reading ? [{ field: "phone", message: reading.problem }] : [];
  return { contact, evidence: { email: optInOf(row) }, issues: [...phoneIssues, ...birthdayIssues(row)] };
}

// The confirmation, where there was one; else the form. Time and address of one and the same moment.
function optInOf(row: CsvRow): ConsentEvidence {
  const moment =
    row.cell("CONFIRM_TIME") !== undefined && row.cell("CONFIRM_IP") !== undefined ? "CONFIRM" : "OPTIN";
  const time = row.cell(`${moment}_TIME`)?.replace(" ", "T");
  return { createdAt: time, ip: row.cell(`${moment}_IP`), source: "mailchimp" };
}

// The times of leaving count even in a file of another section: consent is never better than any cell of the row.
function emailConsent(
  row: CsvRow,
  section: MailchimpSection,
): Pick<Contact, "email_opt_in" | "is_suppressed"> {
  const isCleaned = section === "cleaned" || row.cell("CLEAN_TIME") !== undefined;
  const hasLeft = section === "unsubscribed" || row.cell("UNSUB_TIME") !== undefined;
  const optIn = hasLeft
    ? "UNSUBSCRIBED"
    : section === "subscribed" && !isCleaned
      ? "SUBSCRIBED"
      : "NON_SUBSCRIBED";
  return { email_opt_in: optIn, is_suppressed: isCleaned ? true : undefined };
}

function birthdayIssues(row: CsvRow): RowIssue[] {
  const birthday = row.cell("Birthday");
  if (birthday === undefined || isDayOfAnyYear(birthday)) return [];
  return [
    {
      field: "Birthday",
      message: `${JSON.stringify(birthday)} is not a month and day (MM/DD) that a year has`,
    },
  ];
}

function isDayOfAnyYear(text: string): boolean {
  const [, month, day] = /^(\d{2})\/(\d{2})$/.exec(text) ?? [];
  if (month === undefined || day === undefined) return false;
  // 2000 was a leap year, so the 29th of February counts.
  const date = new Date(Date.UTC(2000, Number(month) - 1, Number(day)));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}
