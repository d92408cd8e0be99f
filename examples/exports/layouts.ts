import { basename } from "node:path";
import type { ContactField } from "./contact-columns.ts";
import type { Channel } from "./contact.ts";
import type { FileSection } from "./file-section.ts";
import { compactHeading } from "./heading.ts";

/** The layout of a provider's export: names, source, and the provider's meaning of headings. */
export interface Layout {
  /** A description: "Mailchimp, unsubscribed contacts". */
  readonly name: string;
  /** The prefix of custom properties, and the contacts' `source`. */
  readonly provider?: "mailchimp" | "klaviyo" | "hubspot" | "brevo";
  /** Headings with another meaning than in a plain table. */
  readonly fields: ReadonlyMap<string, ContactField | "property">;
  /** The consent of all contacts in the file. */
  readonly section?: FileSection;
}

const mailchimpHeadings =
  "leid euid memberrating optintime confirmtime unsubtime cleantime lastchanged".split(" ");

const sourceIsProperty: Layout["fields"] = new Map([["source", "property"]]);

/** Detects the layout by the headings, and Mailchimp's section by the file's name. */
export function layoutOf(path: string, headings: readonly string[]): Layout {
  const found = new Set(headings.map(compactHeading));
  const has = (...names: string[]) => names.some((name) => found.has(name));
  const ofMailchimp = mailchimpHeadings.filter((heading) => found.has(heading)).length;
  if (ofMailchimp >= 2 || (ofMailchimp === 1 && has("emailaddress"))) return mailchimp(path);
  if (has("klaviyoid", "emailmarketingconsent", "smsmarketingconsent", "emailsuppressions")) {
    return { name: "Klaviyo", provider: "klaviyo", fields: sourceIsProperty };
  }
  const isHubSpot =
    has(
      "unsubscribedfromallemail",
      "marketingcontactstatus",
      "hsemailoptout",
      "emailhardbouncereason",
      "portalunsubscribe",
    ) ||
    (has("recordid") && has("lifecyclestage", "leadstatus", "contactowner", "createdate")) ||
    [...found].some((heading) => heading.startsWith("optedoutofemail"));
  if (isHubSpot) return { name: "HubSpot", provider: "hubspot", fields: sourceIsProperty };
  if (isBrevo(headings)) return { name: "Brevo", provider: "brevo", fields: sourceIsProperty };
  return { name: "plain table", fields: new Map() };
}

const brevoHeadings =
  "EXT_ID OPT_IN DOUBLE_OPT-IN EMAIL_BLACKLISTED SMS_BLACKLISTED WHATSAPP_BLACKLISTED ADDED_TIME MODIFIED_TIME".split(
    " ",
  );
const brevoNames = "FIRSTNAME LASTNAME PRENOM NOM VORNAME NACHNAME NOMBRE APELLIDOS NOME COGNOME".split(" ");

// In capitals as Brevo writes them: its numbers have no plus, and those of a table of anybody no country.
function isBrevo(headings: readonly string[]): boolean {
  const own = brevoHeadings.filter((heading) => headings.includes(heading)).length;
  return (
    own >= 2 || (own === 1 && headings.includes("SMS") && brevoNames.some((name) => headings.includes(name)))
  );
}

// The address is one cell whose parts are not marked, and the birthday has no year.
const mailchimpFields: Layout["fields"] = new Map([
  ["source", "property"],
  ["address", "property"],
  ["birthday", "property"],
  ["cc", "country"],
  ["region", "state"],
]);

/**
 * The export has one file for each section of an audience, whose name begins with it. Without such a name only the
 * columns give the consent, or other words of the name.
 */
function mailchimp(path: string): Layout {
  const name = basename(path).toLowerCase();
  const provider = "mailchimp" as const;
  const channels = channelsOf(name);
  const named = (section: string, stated: Omit<FileSection, "channels">) => ({
    name: `Mailchimp, ${section} contacts`,
    provider,
    fields: mailchimpFields,
    section: { ...stated, channels },
  });
  if (name.startsWith("unsubscribed")) return named("unsubscribed", { optIn: "UNSUBSCRIBED" });
  if (name.startsWith("cleaned"))
    return named("cleaned", {
      optIn: "NON_SUBSCRIBED",
      ...(channels.includes("email") ? { isSuppressed: true } : {}),
    });
  if (/^non-?subscribed/.test(name)) return named("non-subscribed", { optIn: "NON_SUBSCRIBED" });
  // "subscribed_…_cleaned.csv" may be tidied, or both sections; an opt-in to both channels may be one to either.
  if (/^subscribed_(?!.*(subscribed|cleaned))/.test(name) && channels.length === 1)
    return named("subscribed", { optIn: "SUBSCRIBED" });
  return { name: "Mailchimp, no section in the file's name", provider, fields: mailchimpFields };
}

// "subscribed_sms_audience_export_…"; an audience without a channel in its name is one of e-mail.
function channelsOf(name: string): readonly Channel[] {
  if (!/(?<![a-z])(sms|mms|whatsapp|phone)(?![a-z])/.test(name)) return ["email"];
  return /e-?mail/.test(name) ? ["email", "phone"] : ["phone"];
}
