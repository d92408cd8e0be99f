import { basename } from "node:path";
import type { ColumnRule } from "./column-map.ts";
import { furtherVendors } from "./further-vendors.ts";
import { email, left, listed, optedIn, phone, refused, threeStates, type Vendor } from "./vendor.ts";

/** The layouts that are known. */
export const vendors: readonly Vendor[] = [
  {
    name: "Mailchimp",
    source: "mailchimp",
    marks: [
      ["Email Address", "LEID"],
      ["Email Address", "EUID"],
      ["Email Address", "MEMBER_RATING"],
      ["LEID", "EUID"],
    ],
    columns: {
      "Email Address": "email",
      "First Name": "first_name",
      "Last Name": "last_name",
      "Phone Number": "phone",
      "SMS Phone Number": "phone",
      CC: "country",
      REGION: "state",
      UNSUB_TIME: email(left("UNSUBSCRIBED")),
      CLEAN_TIME: email(left("NON_SUBSCRIBED")),
    },
    properties: listed(
      "Address|Birthday|Source|MEMBER_RATING|OPTIN_TIME|OPTIN_IP|CONFIRM_TIME|CONFIRM_IP|LATITUDE|LONGITUDE|GMTOFF|DSTOFF|" +
        "TIMEZONE|LAST_CHANGED|LEID|EUID|NOTES|TAGS|CLEAN_CAMPAIGN_TITLE|CLEAN_CAMPAIGN_ID|UNSUB_CAMPAIGN_TITLE|" +
        "UNSUB_CAMPAIGN_ID|UNSUB_REASON|UNSUB_REASON_OTHER",
    ),
    sections: [
      { begins: /^unsubscribed/, optIn: "UNSUBSCRIBED", name: "unsubscribed" },
      { begins: /^cleaned/, optIn: "NON_SUBSCRIBED", name: "cleaned" },
      { begins: /^non-?subscribed/, optIn: "NON_SUBSCRIBED", name: "non-subscribed" },
      { begins: /^subscribed_(?!.*(subscribed|cleaned))/, optIn: "SUBSCRIBED", name: "subscribed" },
    ],
  },
  {
    name: "Klaviyo",
    source: "klaviyo",
    marks: [["Klaviyo ID"], ["Email Marketing Consent"], ["SMS Marketing Consent"], ["Email Suppressions"]],
    columns: {
      "State / Region": "state",
      "Address 2": "address2",
      "Zip Code": "postal_code",
      "Email Marketing Consent": email(threeStates()),
      "SMS Marketing Consent": phone(threeStates()),
      "Email Suppressions": email({
        UNSUBSCRIBE: "UNSUBSCRIBED",
        SPAM_COMPLAINT: "UNSUBSCRIBED",
        USER_SUPPRESSED: "UNSUBSCRIBED",
        HARD_BOUNCE: "NON_SUBSCRIBED",
        INVALID_EMAIL: "NON_SUBSCRIBED",
        "": "none",
      }),
    },
    properties: listed(
      "Klaviyo ID|Organization|Title|Latitude|Longitude|Source|IP Address|Email Marketing Consent Timestamp|" +
        "SMS Marketing Consent Timestamp|Historic Customer Lifetime Value|Average Order Value|Historic Number Of Orders|" +
        "First Active|Last Active|Profile Created On|Date Added|Last Open|Last Click",
    ),
  },
  {
    name: "HubSpot",
    source: "hubspot",
    marks: [
      ["Unsubscribed from all email"],
      ["Record ID", "Lifecycle Stage"],
      ["Record ID", "Lead Status"],
      ["Record ID", "Marketing contact status"],
    ],
    columns: {
      "Unsubscribed from all email": email(refused()),
      "Invalid email address": email({
        true: "NON_SUBSCRIBED",
        yes: "NON_SUBSCRIBED",
        false: "none",
        no: "none",
      }),
    },
    beginnings: { "Opted out of email:": email(refused()) },
    properties: listed(
      "Record ID|Lifecycle Stage|Lead Status|Contact owner|Create Date|Last Activity Date|Marketing contact status|Source|" +
        "Associated Company|Associated Company IDs|Company Name|Job Title",
    ),
  },
  {
    name: "Brevo",
    source: "brevo",
    marks: [
      ["DOUBLE_OPT-IN"],
      ["EMAIL", "EMAIL_BLACKLISTED"],
      ["EMAIL", "ADDED_TIME"],
      ["EMAIL", "MODIFIED_TIME"],
      ["SMS_BLACKLISTED", "EMAIL"],
    ],
    columns: {
      EMAIL: "email",
      SMS: "phone",
      FIRSTNAME: "first_name",
      LASTNAME: "last_name",
      EXT_ID: "external_id",
      OPT_IN: email(optedIn()),
      "DOUBLE_OPT-IN": email({ 1: "SUBSCRIBED", 2: "NON_SUBSCRIBED", "": "none" }),
      EMAIL_BLACKLISTED: email(refused()),
      SMS_BLACKLISTED: phone(refused()),
      WHATSAPP_BLACKLISTED: phone(refused()),
    },
    properties: listed("CONTACT ID|ADDED_TIME|MODIFIED_TIME|WHATSAPP|LANDLINE_NUMBER|Source"),
  },
  ...furtherVendors,
];

/** The vendor whose marks are among the headings. */
export function vendorOf(headings: readonly string[]): Vendor | undefined {
  const found = new Set(headings);
  return vendors.find(({ marks }) => marks.some((mark) => mark.every((heading) => found.has(heading))));
}

/** The vendor's meaning of a heading; undefined for a column of the user's own. */
export function ruleOfVendor(vendor: Vendor, heading: string): ColumnRule | undefined {
  if (Object.hasOwn(vendor.columns, heading)) return vendor.columns[heading];
  if (vendor.properties.includes(heading)) return "property";
  const beginning = Object.keys(vendor.beginnings ?? {}).find((one) => heading.startsWith(one));
  return beginning === undefined ? undefined : vendor.beginnings?.[beginning];
}

/** The section of a vendor's export, by the name of its file. */
export function sectionOf(vendor: Vendor | undefined, path: string) {
  const name = basename(path).toLowerCase();
  return vendor?.sections?.find(({ begins }) => begins.test(name));
}
