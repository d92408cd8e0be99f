import { email, leftAt, optedIn, phone, refused, threeStates, type Vendor } from "./vendor.ts";

/** The layouts of shops and newsletters. */
export const shopVendors: readonly Vendor[] = [
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
