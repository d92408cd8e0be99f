import type { CsvRow } from "./csv-row.ts";
import { customProperties } from "./custom-properties.ts";
import type { Contact, MappedContact, OptIn } from "./mapped-contact.ts";
import { readPhone } from "./phone.ts";

/** Whether these are the headings of an export of a list or segment. */
export function isKlaviyoExport(headings: readonly string[]): boolean {
  return headings.includes("Email") && headings.includes("Klaviyo ID");
}

const contactHeadings = [
  "Email",
  "First Name",
  "Last Name",
  "Phone Number",
  "Address",
  "Address 2",
  "City",
  "State / Region",
  "Country",
  "Zip Code",
  "Birthday",
];

/** A row of an export of a list or segment as a contact. A profile may have a telephone number and no address. */
export function klaviyoContact(row: CsvRow): MappedContact {
  const written = row.cell("Phone Number");
  const reading = written === undefined ? undefined : readPhone(written);
  const phone = reading !== undefined && "phone" in reading ? reading.phone : undefined;
  // Addresses are kept in lower case there, but a file may have been edited since.
  const email = row.cell("Email")?.toLowerCase();
  const contact: Contact = {
    email,
    phone,
    first_name: row.cell("First Name"),
    last_name: row.cell("Last Name"),
    address1: row.cell("Address"),
    address2: row.cell("Address 2"),
    city: row.cell("City"),
    state: row.cell("State / Region"),
    country: row.cell("Country"),
    postal_code: row.cell("Zip Code"),
    dob: row.cell("Birthday"),
    ...(email === undefined ? {} : emailConsent(row)),
    phone_opt_in: phone === undefined ? undefined : optIn(row.cell("SMS Marketing Consent")),
    source: "klaviyo",
    custom_properties: customProperties(row, { prefix: "klaviyo", except: contactHeadings }),
  };
  // Its "IP Address" is the profile's, and not said to be the one that consent came from.
  const evidenceOf = (channel: string) => ({
    createdAt: row.cell(`${channel} Marketing Consent Timestamp`)?.replace(" ", "T"),
    source: "klaviyo",
  });
  return {
    contact,
    evidence: { email: evidenceOf("Email"), phone: evidenceOf("SMS") },
    issues:
      reading !== undefined && "problem" in reading ? [{ field: "phone", message: reading.problem }] : [],
  };
}

// NEVER_SUBSCRIBED, a blank cell and any word that is not known give no consent.
function optIn(status: string | undefined): OptIn {
  return status === "SUBSCRIBED" || status === "UNSUBSCRIBED" ? status : "NON_SUBSCRIBED";
}

// A suppressed profile may still read SUBSCRIBED. It received nothing, so it does not come over as subscribed.
function emailConsent(row: CsvRow): Pick<Contact, "email_opt_in" | "is_suppressed"> {
  const consent = optIn(row.cell("Email Marketing Consent"));
  const suppressions = row.cell("Email Suppressions");
  if (suppressions === undefined || suppressions === "[]") return { email_opt_in: consent };
  const hasLeft = consent === "UNSUBSCRIBED" || suppressions.includes("UNSUBSCRIBE");
  return { email_opt_in: hasLeft ? "UNSUBSCRIBED" : "NON_SUBSCRIBED", is_suppressed: true };
}
