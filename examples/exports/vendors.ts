import { basename } from "node:path";
import type { ColumnRule, Meaning } from "./column-map.ts";
import type { OptIn } from "./contact.ts";

/** The layout of a vendor's export: its exact headings, and the exact words of its columns of consent. */
export interface Vendor {
  readonly name: string;
  /** The headings that mark the layout: all of one of these lists, separated by `|`. */
  readonly marks: readonly string[];
  /** A heading that ends in `…` stands for all that begin so. */
  readonly columns: Readonly<Record<string, ColumnRule>>;
  /** Columns of data, whatever is in their cells, separated by `|`. */
  readonly properties: string;
  /** What a file means as a whole, by the beginning of its name; the first one counts. */
  readonly sections?: Readonly<Record<string, OptIn>>;
}

/** The words of each meaning, separated by `|`. A blank says nothing. */
type WordsOf = Readonly<Partial<Record<Meaning, string>>>;

const email = (own: WordsOf): ColumnRule => ({ consent: "email", words: meaningsOf(own) });
const phone = (own: WordsOf): ColumnRule => ({ consent: "phone", words: meaningsOf(own) });

function meaningsOf(own: WordsOf): Record<string, Meaning> {
  const entries = Object.entries(own).flatMap(([each, list]) =>
    // Safe: the keys of the record are meanings.
    list.split("|").map((word) => [word, each as Meaning] as const),
  );
  return Object.fromEntries([...entries, ["", "none"]]);
}

// An export writes a flag in one of these ways. A no is read as the stricter of its meanings.
const [yes, no] = ["true|yes|1", "false|no|0"];
const optedIn: WordsOf = { SUBSCRIBED: yes, UNSUBSCRIBED: no };
const refused: WordsOf = { UNSUBSCRIBED: yes, none: no };
const invalid: WordsOf = { NON_SUBSCRIBED: yes, none: no };
const leftAt: WordsOf = { UNSUBSCRIBED: "<date>" };
const threeStates: WordsOf = {
  SUBSCRIBED: "subscribed",
  UNSUBSCRIBED: "unsubscribed",
  NON_SUBSCRIBED: "non-subscribed|nonsubscribed|never subscribed|never_subscribed|not subscribed|pending",
};

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
    sections: {
      unsubscribed: "UNSUBSCRIBED",
      cleaned: "NON_SUBSCRIBED",
      "non-subscribed": "NON_SUBSCRIBED",
      nonsubscribed: "NON_SUBSCRIBED",
      subscribed_: "SUBSCRIBED",
    },
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
        none: "[]",
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
      "Record ID|Lifecycle Stage|Lead Status|Contact owner|Create Date|Last Activity Date|Source|" +
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
  {
    name: "Shopify",
    marks: [
      "Customer ID|Accepts Email Marketing",
      "Accepts Email Marketing|Accepts SMS Marketing|Tax Exempt",
    ],
    columns: {
      "Accepts Email Marketing": email(optedIn),
      "Accepts SMS Marketing": phone(optedIn),
      "Default Address Address1": "address1",
      "Default Address Address2": "address2",
      "Default Address City": "city",
      "Default Address Province Code": "state",
      "Default Address Country Code": "country",
      "Default Address Zip": "postal_code",
    },
    properties:
      "Customer ID|Default Address Company|Default Address Phone|Total Spent|Total Orders|Note|Tax Exempt|Tags",
  },
  {
    name: "Omnisend",
    marks: ["Email status|SMS status|Email opt-in date", "emailStatus|smsStatus"],
    columns: {
      "Email status": email(threeStates),
      "SMS status": phone(threeStates),
      emailStatus: email(threeStates),
      smsStatus: phone(threeStates),
      "Email opt-out date": email(leftAt),
      "SMS opt-out date": phone(leftAt),
    },
    properties: "Email opt-in date|SMS opt-in date|Tags|Date added",
  },
  {
    name: "MailerLite",
    marks: ["Subscriber|Sent|Opens", "Subscriber|Opened|Clicked", "Subscriber|Sent|Status"],
    columns: {
      Subscriber: "email",
      Status: email({
        SUBSCRIBED: "active",
        UNSUBSCRIBED: "unsubscribed|junk",
        NON_SUBSCRIBED: "unconfirmed|bounced",
      }),
      Unsubscribed: email(leftAt),
    },
    properties:
      "Sent|Opens|Opened|Clicks|Clicked|Subscribed|Location|Signup IP|Signup timestamp|Confirmation IP|Opt-in timestamp",
  },
  {
    name: "Constant Contact",
    marks: ["Email status|Email permission status"],
    columns: {
      "Email status": email({
        SUBSCRIBED: "active",
        UNSUBSCRIBED: "unsubscribed",
        NON_SUBSCRIBED: "awaiting confirmation|no permissions set",
      }),
      "Email permission status": email({
        none: "express|implied",
        UNSUBSCRIBED: "opted out|unsubscribed",
        NON_SUBSCRIBED: "not set|no permissions set|pending confirmation|awaiting confirmation",
      }),
      "Confirmed Opt-Out Date": email(leftAt),
    },
    properties:
      "Email update source|Email Lists|Source Name|Created At|Updated At|Confirmed Opt-Out Source|Confirmed Opt-Out Reason|Tags",
  },
  {
    name: "Ghost",
    marks: ["subscribed_to_emails|complimentary_plan"],
    columns: { subscribed_to_emails: email(optedIn), deleted_at: email(leftAt) },
    properties: "id|name|note|complimentary_plan|stripe_customer_id|created_at|labels|tiers",
  },
  {
    name: "Wix",
    marks: ["Email 1|Email subscriber status", "Email 1|Email Subscriber Status"],
    columns: {
      "Email subscriber status": email(threeStates),
      "Email Subscriber Status": email(threeStates),
      "SMS subscriber status": phone(threeStates),
      "SMS Subscriber Status": phone(threeStates),
    },
    properties: "Labels|Source|Language|Created At (UTC+0)|Last Activity|Last Activity Date (UTC+0)",
  },
  {
    name: "beehiiv",
    marks: ["status|subscription_tier|utm_source", "status|subscription_premium_tier_names"],
    columns: {
      status: email({
        SUBSCRIBED: "active",
        UNSUBSCRIBED: "inactive",
        NON_SUBSCRIBED: "invalid|validating|pending|needs_attention",
      }),
    },
    properties:
      "id|publication_id|created|created_at|subscription_tier|subscription_premium_tier_names|utm_source|utm_medium|" +
      "utm_campaign|utm_channel|referring_site|referral_code|tags",
  },
  {
    name: "Substack",
    marks: ["active_subscription|email_disabled"],
    columns: { email_disabled: email(refused) },
    properties: "active_subscription|plan|expiry|created_at|first_payment_at",
  },
];

/** The vendor whose marks are among the headings. */
export function vendorOf(headings: readonly string[]): Vendor | undefined {
  const found = new Set(headings);
  return vendors.find(({ marks }) =>
    marks.some((mark) => mark.split("|").every((heading) => found.has(heading))),
  );
}

/** The vendor's meaning of a heading; undefined for a column of the user's own. */
export function ruleOfVendor(vendor: Vendor | undefined, heading: string): ColumnRule | undefined {
  if (vendor === undefined) return undefined;
  const { columns, properties } = vendor;
  if (properties.split("|").includes(heading)) return "property";
  if (Object.hasOwn(columns, heading)) return columns[heading];
  const beginning = Object.keys(columns).find(
    (name) => name.endsWith("…") && heading.startsWith(name.slice(0, -1)),
  );
  return beginning === undefined ? undefined : columns[beginning];
}

/** Whether a vendor's column holds words of its users, who may write a refusal there. */
export const isOfOwnWords = (heading: string) =>
  /^(notes?|tags|labels|email lists|lead status)$/i.test(heading);

/** What a vendor's export means as a whole, by the name of its file. */
export function sectionOf(vendor: Vendor | undefined, path: string): OptIn | undefined {
  const name = basename(path).toLowerCase();
  const [, optIn] = Object.entries(vendor?.sections ?? {}).find(([begins]) => name.startsWith(begins)) ?? [];
  // A file of opt-ins has no other section in its name.
  return optIn === "SUBSCRIBED" && /.(subscribed|cleaned)/.test(name) ? undefined : optIn;
}
