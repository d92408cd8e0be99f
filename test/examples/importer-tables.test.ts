import { writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import type { ColumnRule, Meaning } from "../../examples/exports/column-map.ts";
import {
  csv,
  emailConsents,
  list,
  mapIn,
  openIn,
  runAlone,
  service,
  temporaryFolder,
} from "./importer-fixture.ts";

/** A table after the layout of another tool. */
interface Table {
  readonly tool: string;
  readonly file?: string;
  readonly headings: string;
  /** Each row, and the person's true e-mail consent: subscribed, non-subscribed, unsubscribed, or none (-). */
  readonly rows: readonly (readonly [row: string, consent: "S" | "N" | "U" | "-"])[];
  /** The columns that are asked, and their answers. */
  readonly asked?: Readonly<Record<string, ColumnRule>>;
}

const meaning = (
  words: Record<string, Meaning>,
  channel: "email" | "phone" | "both" = "email",
): ColumnRule => ({
  consent: channel,
  words: { "": "none", ...words },
});
const flags = (yes: string, no: string) => meaning({ [yes]: "SUBSCRIBED", [no]: "UNSUBSCRIBED" });
const stop = (word: string) => meaning({ [word]: "UNSUBSCRIBED" });

/** The tables, of many tools and in many languages. */
const tables: readonly Table[] = [
  {
    tool: "Mailchimp, unsubscribed",
    file: "unsubscribed_email_audience_export_1.csv",
    headings: "Email Address,First Name,MEMBER_RATING,UNSUB_TIME,UNSUB_REASON,LEID,EUID,TAGS",
    rows: [
      ["a@example.com,Ada,5,2026-01-02 10:00:00,No longer interested,1,x1,", "U"],
      ["b@example.com,Bo,2,2026-01-03 10:00:00,,2,x2,VIP", "U"],
    ],
  },
  {
    tool: "Mailchimp, subscribed",
    file: "subscribed_email_audience_export_1.csv",
    headings: "Email Address,First Name,MEMBER_RATING,OPTIN_TIME,LEID,EUID,TAGS",
    rows: [
      ["a@example.com,Ada,5,2026-01-02 10:00:00,1,x1,", "S"],
      ["b@example.com,Bo,2,2026-01-02 10:00:00,2,x2,unsubscribed", "-"],
      [`c@example.com,Cy,2,2026-01-02 10:00:00,3,x3,"""VIP"",""Do not email"""`, "-"],
    ],
  },
  {
    tool: "Klaviyo",
    headings: "Email,Klaviyo ID,First Name,Email Marketing Consent,Email Suppressions",
    rows: [
      ["a@example.com,01H1,Ada,SUBSCRIBED,[]", "S"],
      ["b@example.com,01H2,Bo,SUBSCRIBED,['UNSUBSCRIBE']", "U"],
      ["c@example.com,01H3,Cy,NEVER_SUBSCRIBED,", "N"],
      [`d@example.com,01H4,Di,SUBSCRIBED,"['HARD_BOUNCE', 'SPAM_COMPLAINT']"`, "U"],
    ],
  },
  {
    tool: "HubSpot",
    headings:
      "Record ID,Email,Lifecycle Stage,Unsubscribed from all email,Opted out of email: One to One,Newsletter,Marketing contact status",
    rows: [
      ["1,a@example.com,Lead,true,,Ja,Marketing contact", "U"],
      ["2,b@example.com,Customer,,true,Ja,Marketing contact", "U"],
      ["3,c@example.com,Customer,false,false,Ja,Marketing contact", "S"],
      ["4,d@example.com,Customer,false,false,Ja,Non-marketing contact", "N"],
    ],
    asked: {
      Newsletter: flags("ja", "nein"),
      "Marketing contact status": meaning({
        "marketing contact": "none",
        "non-marketing contact": "NON_SUBSCRIBED",
      }),
    },
  },
  {
    tool: "Brevo",
    headings: "EMAIL,SMS,FIRSTNAME,DOUBLE_OPT-IN,EMAIL_BLACKLISTED,SMS_BLACKLISTED,ADDED_TIME",
    rows: [
      ["a@example.com,,Ada,1,No,No,2026-01-01", "S"],
      ["b@example.com,,Bo,1,Yes,No,2026-01-01", "U"],
      ["c@example.com,,Cy,2,No,No,2026-01-01", "N"],
    ],
  },
  {
    tool: "Shopify",
    headings:
      "Customer ID,First Name,Email,Accepts Email Marketing,Phone,Accepts SMS Marketing,Total Spent,Tags",
    rows: [
      ["'1,Ada,a@example.com,yes,,no,10.00,VIP", "S"],
      ["'2,Bo,b@example.com,no,,no,0.00,", "U"],
    ],
  },
  {
    tool: "MailerLite",
    headings: "Subscriber,Sent,Opens,Clicks,Status,Subscribed",
    rows: [
      ["a@example.com,3,2,1,Active,2026-01-01", "S"],
      ["b@example.com,3,0,0,Unsubscribed,2026-01-01", "U"],
      ["c@example.com,0,0,0,Unconfirmed,2026-01-01", "N"],
    ],
  },
  {
    tool: "Constant Contact",
    headings: "Email address,First name,Email status,Email permission status",
    rows: [
      ["a@example.com,Ada,Active,Express", "S"],
      ["b@example.com,Bo,Unsubscribed,Opted Out", "U"],
      ["c@example.com,Cy,Awaiting Confirmation,", "N"],
    ],
  },
  {
    tool: "Ghost",
    headings: "id,email,name,note,subscribed_to_emails,complimentary_plan,created_at,deleted_at,labels",
    rows: [
      ["1,a@example.com,Ada,,true,false,2026-01-01T00:00:00.000Z,,", "S"],
      ["2,b@example.com,Bo,,false,false,2026-01-01T00:00:00.000Z,,x", "U"],
      ["3,c@example.com,Cy,,true,false,2026-01-01T00:00:00.000Z,2026-02-01T00:00:00.000Z,", "U"],
    ],
  },
  {
    tool: "Wix",
    headings: "First Name,Email 1,Phone 1,Email subscriber status,SMS subscriber status",
    rows: [
      ["Ada,a@example.com,,Subscribed,Never subscribed", "S"],
      ["Bo,b@example.com,,Unsubscribed,Never subscribed", "U"],
    ],
  },
  {
    tool: "beehiiv",
    headings: "id,email,status,subscription_tier,utm_source,created_at",
    rows: [
      ["sub_1,a@example.com,active,free,web,2026-01-01", "S"],
      ["sub_2,b@example.com,inactive,free,web,2026-01-01", "U"],
    ],
  },
  {
    tool: "Omnisend",
    headings: "Email,First name,Email status,SMS status,Email opt-in date,Email opt-out date",
    rows: [
      ["a@example.com,Ada,subscribed,nonSubscribed,2026-01-01,", "S"],
      ["b@example.com,Bo,unsubscribed,nonSubscribed,2026-01-01,2026-02-01", "U"],
      ["c@example.com,Cy,nonSubscribed,nonSubscribed,,", "N"],
    ],
  },
  {
    tool: "a CRM in German",
    headings: "E-Mail,Vorname,Werbesperre,Einwilligung",
    rows: [
      ["a@example.com,Ada,X,erteilt", "U"],
      ["b@example.com,Bo,,erteilt", "S"],
      ["c@example.com,Cy,,widerrufen", "U"],
    ],
    asked: {
      Werbesperre: stop("x"),
      Einwilligung: meaning({ erteilt: "SUBSCRIBED", widerrufen: "UNSUBSCRIBED" }),
    },
  },
  {
    tool: "a shop in Japanese",
    headings: "Email,メルマガ",
    rows: [
      ["a@example.com,希望する", "S"],
      ["b@example.com,希望しない", "U"],
      ["c@example.com,", "-"],
    ],
    asked: { メルマガ: flags("希望する", "希望しない") },
  },
  {
    tool: "a CRM in Turkish",
    headings: "E-posta,İzin,İptal",
    rows: [
      ["a@example.com,EVET,", "S"],
      ["b@example.com,EVET,1", "U"],
      ["c@example.com,HAYIR,", "U"],
    ],
    asked: { İzin: flags("evet", "hayir"), İptal: stop("1") },
  },
];

const states = { S: "SUBSCRIBED", N: "NON_SUBSCRIBED", U: "UNSUBSCRIBED", "-": undefined } as const;

const written = async ({ file = "people.csv", headings, rows }: Table) =>
  await csv(await temporaryFolder(), file, headings, ...rows.map(([row]) => row));

it.each(tables)("The true consent of each person arrives from $tool", async ({ asked = {}, ...table }) => {
  const mock = service();
  const path = await written(table);

  const first = await runAlone([path, "--list", list.id]);
  const map = await mapIn(path);
  const open = await openIn(path);
  await writeFile(`${path}.map.json`, JSON.stringify({ ...map, columns: { ...map.columns, ...asked } }));
  if (open.length > 0) await runAlone([path, "--list", list.id]);

  expect(open).toEqual(Object.keys(asked));
  expect(first.code === 2).toBe(open.length > 0);
  const people = table.rows.map(([row, truth]) => [/\w+@example\.com/.exec(row)?.[0] ?? "", states[truth]]);
  expect(emailConsents(mock)).toEqual(Object.fromEntries(people.filter(([, state]) => state !== undefined)));
});
