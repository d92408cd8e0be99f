import { basename } from "node:path";
import type { ColumnRule } from "./column-map.ts";
import { shopVendors } from "./shop-vendors.ts";
import { email, invalid, leftAt, optedIn, phone, refused, threeStates, type Vendor } from "./vendor.ts";

/** The layouts that are known. A map beside a file adds to them, and goes before them. */
const vendors: readonly Vendor[] = [
  {
    name: "Mailchimp",
    marks: ["Email Address|LEID", "Email Address|EUID", "Email Address|MEMBER_RATING", "LEID|EUID"],
    columns: {
      CC: "country",
      REGION: "state",
      UNSUB_TIME: email(leftAt),
      CLEAN_TIME: email({ NON_SUBSCRIBED: "<date>" }),
    },
    properties:
      "Address|Birthday|Source|MEMBER_RATING|OPTIN_TIME|OPTIN_IP|CONFIRM_TIME|CONFIRM_IP|LATITUDE|LONGITUDE|GMTOFF|DSTOFF|" +
      "TIMEZONE|LAST_CHANGED|LEID|EUID|NOTES|TAGS|CLEAN_CAMPAIGN_TITLE|CLEAN_CAMPAIGN_ID|UNSUB_CAMPAIGN_TITLE|" +
      "UNSUB_CAMPAIGN_ID|UNSUB_REASON|UNSUB_REASON_OTHER",
    sections: [
      { begins: "unsubscribed", optIn: "UNSUBSCRIBED" },
      { begins: "cleaned", optIn: "NON_SUBSCRIBED" },
      { begins: "non-subscribed", optIn: "NON_SUBSCRIBED" },
      { begins: "nonsubscribed", optIn: "NON_SUBSCRIBED" },
      { begins: "subscribed_", optIn: "SUBSCRIBED" },
    ],
  },
  {
    name: "Klaviyo",
    marks: ["Klaviyo ID", "Email Marketing Consent", "SMS Marketing Consent", "Email Suppressions"],
    columns: {
      "State / Region": "state",
      "Email Marketing Consent": email(threeStates),
      "SMS Marketing Consent": phone(threeStates),
      "Email Suppressions": email({
        UNSUBSCRIBED: "unsubscribe|spam_complaint|user_suppressed",
        NON_SUBSCRIBED: "hard_bounce|invalid_email",
      }),
    },
    properties:
      "Klaviyo ID|Organization|Title|Latitude|Longitude|Source|IP Address|Email Marketing Consent Timestamp|" +
      "SMS Marketing Consent Timestamp|Historic Customer Lifetime Value|Average Order Value|Historic Number Of Orders|" +
      "First Active|Last Active|Profile Created On|Date Added|Last Open|Last Click",
  },
  {
    name: "HubSpot",
    marks: [
      "Unsubscribed from all email",
      "Record ID|Lifecycle Stage",
      "Record ID|Lead Status",
      "Record ID|Marketing contact status",
    ],
    columns: {
      "Unsubscribed from all email": email(refused),
      "Opted out of email:…": email(refused),
      "Invalid email address": email(invalid),
    },
    properties:
      "Record ID|Lifecycle Stage|Lead Status|Contact owner|Create Date|Last Activity Date|Marketing contact status|Source|" +
      "Associated Company|Associated Company IDs|Company Name|Job Title",
  },
  {
    name: "Brevo",
    marks: [
      "DOUBLE_OPT-IN",
      "EMAIL|EMAIL_BLACKLISTED",
      "EMAIL|ADDED_TIME",
      "EMAIL|MODIFIED_TIME",
      "SMS_BLACKLISTED|EMAIL",
    ],
    columns: {
      OPT_IN: email(optedIn),
      "DOUBLE_OPT-IN": email({ SUBSCRIBED: "1", NON_SUBSCRIBED: "2" }),
      EMAIL_BLACKLISTED: email(refused),
      SMS_BLACKLISTED: phone(refused),
      WHATSAPP_BLACKLISTED: phone(refused),
    },
    properties: "CONTACT ID|ADDED_TIME|MODIFIED_TIME|WHATSAPP|LANDLINE_NUMBER|Source",
  },
  ...shopVendors,
];

/** The vendor whose marks are among the headings. */
export function vendorOf(headings: readonly string[]): Vendor | undefined {
  const found = new Set(headings);
  return vendors.find(({ marks }) =>
    marks.some((mark) => mark.split("|").every((heading) => found.has(heading))),
  );
}

/** The vendor's meaning of a heading; undefined for a column of the user's own. */
export function ruleOfVendor({ columns, properties }: Vendor, heading: string): ColumnRule | undefined {
  if (properties.split("|").includes(heading)) return "property";
  if (Object.hasOwn(columns, heading)) return columns[heading];
  const beginning = Object.keys(columns).find(
    (name) => name.endsWith("…") && heading.startsWith(name.slice(0, -1)),
  );
  return beginning === undefined ? undefined : columns[beginning];
}

/** The section of a vendor's export, by the name of its file. */
export function sectionOf(vendor: Vendor | undefined, path: string) {
  const name = basename(path).toLowerCase();
  const section = vendor?.sections?.find(({ begins }) => name.startsWith(begins));
  // A file of opt-ins has no other section in its name.
  return section?.optIn === "SUBSCRIBED" && /.(subscribed|cleaned)/.test(name) ? undefined : section;
}
