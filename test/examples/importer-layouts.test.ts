import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { csv, run, sentBodies, service, temporaryFolder } from "./importer-fixture.ts";

// S subscribed, N non-subscribed, U unsubscribed; "·" no statement, so the field is not sent.
const states = { S: "SUBSCRIBED", N: "NON_SUBSCRIBED", U: "UNSUBSCRIBED", "·": undefined } as const;
type State = keyof typeof states;

/** A line of a file, and the expected e-mail consent, phone consent and suppression of its person. */
type Line = readonly [cells: string, email: State, phone?: State, isSuppressed?: "suppressed"];

interface Layout {
  readonly layout: string;
  readonly fileName: string;
  readonly headings: string;
  readonly lines: readonly Line[];
}

const layouts: readonly Layout[] = [
  {
    layout: "Klaviyo",
    fileName: "All subscribers.csv",
    headings:
      "Email,Klaviyo ID,First Name,Last Name,Phone Number,Email Marketing Consent,Email Marketing Consent Timestamp,SMS Marketing Consent,Email Suppressions",
    lines: [
      ["s@example.com,01A,Ada,A,,SUBSCRIBED,2024-01-01 00:00:00+00:00,,[]", "S"],
      ["u@example.com,01B,Bo,B,+447700900511,UNSUBSCRIBED,,UNSUBSCRIBED,", "U", "U"],
      ["n@example.com,01C,Cy,C,+447700900512,NEVER_SUBSCRIBED,,SUBSCRIBED,", "N", "S"],
      ["b@example.com,01D,Di,D,+447700900513,,,,", "·", "·"],
      ["h@example.com,01E,Ed,E,,SUBSCRIBED,,,['HARD_BOUNCE']", "N", "·", "suppressed"],
      ["x@example.com,01F,Fi,F,,SUBSCRIBED,,,\"['UNSUBSCRIBE', 'HARD_BOUNCE']\"", "U", "·", "suppressed"],
      ["p@example.com,01G,Gi,G,,PENDING,,,", "N"],
    ],
  },
  {
    layout: "Klaviyo, without the column Klaviyo ID and in another case",
    fileName: "people.csv",
    headings: "EMAIL,email marketing consent,sms_marketing_consent,phone number",
    lines: [
      ["s@example.com,Subscribed,never_subscribed,+447700900511", "S", "N"],
      ["u@example.com,Unsubscribed,,", "U"],
      ["v@example.com,unsubscribed,,", "U"],
    ],
  },
  {
    layout: "Mailchimp, subscribed",
    fileName: "subscribed_email_audience_export_4c1f.csv",
    headings:
      "Email Address,First Name,Last Name,Address,Phone Number,MEMBER_RATING,OPTIN_TIME,OPTIN_IP,CONFIRM_TIME,CONFIRM_IP,LEID,EUID,NOTES,TAGS",
    lines: [
      ['s@example.com,Ada,A,1 Road,+447700900511,2,2023-03-09 11:50:38,192.0.2.1,,,1,a,,"""VIP"""', "S", "·"],
      ["t@example.com,Bo,B,,,2,2023-03-09 11:50:38,192.0.2.1,,,2,b,,", "S"],
    ],
  },
  {
    layout: "Mailchimp, unsubscribed",
    fileName: "unsubscribed_email_audience_export_4c1f.csv",
    headings:
      "Email Address,First Name,MEMBER_RATING,OPTIN_TIME,UNSUB_TIME,UNSUB_CAMPAIGN_TITLE,UNSUB_CAMPAIGN_ID,UNSUB_REASON,UNSUB_REASON_OTHER,LEID,EUID",
    lines: [
      ["u@example.com,Ada,2,2023-03-09 11:50:38,2024-04-03 03:03:47,Spring,b1,NORMAL,,1,a", "U"],
      ["v@example.com,Bo,2,,,,,,,2,b", "U"],
    ],
  },
  {
    layout: "Mailchimp, cleaned",
    fileName: "cleaned_email_audience_export_4c1f.csv",
    headings:
      "Email Address,First Name,MEMBER_RATING,CLEAN_TIME,CLEAN_CAMPAIGN_TITLE,CLEAN_CAMPAIGN_ID,LEID,EUID",
    lines: [["c@example.com,Ada,2,2024-04-03 03:03:47,Spring,b1,1,a", "N", "·", "suppressed"]],
  },
  ...(["subscribed", "unsubscribed", "cleaned", "nonsubscribed"] as const).map((section) => ({
    layout: `Mailchimp, ${section} for phone messages`,
    fileName: `${section}_sms_audience_export_4c1f.csv`,
    headings: "Email Address,Phone Number,First Name,MEMBER_RATING,OPTIN_TIME,LEID,EUID",
    lines: [
      [
        "s@example.com,+447700900511,Ada,2,2023-03-09 11:50:38,1,a",
        "·",
        ({ subscribed: "S", unsubscribed: "U", cleaned: "N", nonsubscribed: "N" } as const)[section],
      ] as const,
    ],
  })),
  {
    layout: "Mailchimp, all sections in one file whose name says nothing",
    fileName: "audience.csv",
    headings: "Email Address,First Name,MEMBER_RATING,OPTIN_TIME,UNSUB_TIME,CLEAN_TIME,LEID,EUID",
    lines: [
      ["s@example.com,Ada,2,2023-03-09 11:50:38,,,1,a", "·"],
      ["u@example.com,Bo,2,2023-03-09 11:50:38,2024-04-03 03:03:47,,2,b", "U"],
      ["c@example.com,Cy,2,2023-03-09 11:50:38,,2024-04-03 03:03:47,3,c", "N", "·", "suppressed"],
    ],
  },
  {
    layout: "Mailchimp, with the address under another name",
    fileName: "subscribed_email_audience_export_4c1f.csv",
    headings: "E-mail,First Name,OPTIN_TIME,LEID",
    lines: [["s@example.com,Ada,2023-03-09 11:50:38,1", "S"]],
  },
  {
    layout: "HubSpot",
    fileName: "hubspot-crm-exports-all-contacts-2026-11-02.csv",
    headings:
      'Record ID,First Name,Last Name,Email,Phone Number,Mobile Phone Number,Contact owner,Lifecycle Stage,Marketing contact status,Unsubscribed from all email,"Opted out of email: Marketing Information",Email hard bounce reason,Create Date',
    lines: [
      ["1,Ada,A,s@example.com,,,Kim,Lead,Marketing contact,No,,,2024-01-01", "·"],
      ["2,Bo,B,u@example.com,,,Kim,Lead,Marketing contact,Yes,,,2024-01-01", "U"],
      ["3,Cy,C,o@example.com,,,Kim,Lead,Non-marketing contact,false,true,,2024-01-01", "U"],
      ["4,Di,D,h@example.com,,,Kim,Lead,,,,UNKNOWN_USER,2024-01-01", "N", "·", "suppressed"],
      ["5,Ed,E,b@example.com,,+447700900511,Kim,Customer,,,,,2024-01-01", "·", "·"],
    ],
  },
  {
    layout: "Brevo",
    fileName: "contacts_export.csv",
    headings:
      "CONTACT ID;EMAIL;LASTNAME;FIRSTNAME;SMS;EXT_ID;OPT_IN;DOUBLE_OPT-IN;EMAIL_BLACKLISTED;SMS_BLACKLISTED;ADDED_TIME;MODIFIED_TIME",
    lines: [
      ["1;s@example.com;A;Ada;447700900511;x1;Yes;Yes;No;No;2024-01-01;2024-01-01", "S", "·"],
      ["2;u@example.com;B;Bo;447700900512;;Yes;;Yes;Yes;2024-01-01;2024-01-01", "U", "U"],
      ["3;k@example.com;C;Cy;;;;;No;No;2024-01-01;2024-01-01", "·"],
      ["4;n@example.com;D;Di;;;Yes;2;false;;2024-01-01;2024-01-01", "N"],
    ],
  },
  {
    layout: "Brevo, a few columns",
    fileName: "contacts.csv",
    headings: "EMAIL;PRENOM;NOM;SMS;DOUBLE_OPT-IN",
    lines: [["s@example.com;Ada;A;447700900511;Yes", "S", "·"]],
  },
  ...[
    "email,firstname,sms,double_opt_in",
    "EMAIL,FIRSTNAME,SMS,double_opt_in",
    "Email,Opt_in,Added_time,SMS",
  ].map((headings) => ({
    layout: `a plain table, similar to Brevo's (${headings})`,
    fileName: "people.csv",
    headings: `${headings},newsletter`,
    lines: [["a@example.com,,2025550123,true,yes", "S"] as const],
  })),
  {
    layout: "Shopify",
    fileName: "customers_export.csv",
    headings:
      "Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Phone,Accepts SMS Marketing,Total Spent,Tags",
    lines: [
      ["'1,Ada,A,s@example.com,yes,+447700900511,no,10.00,vip", "S", "U"],
      ["'2,Bo,B,u@example.com,no,,,0.00,", "U"],
    ],
  },
  {
    layout: "Responsys",
    fileName: "contacts.csv",
    headings: "EMAIL_ADDRESS_,EMAIL_PERMISSION_STATUS_,MOBILE_NUMBER_,MOBILE_PERMISSION_STATUS_",
    lines: [
      ["i@example.com,I,+447700900511,I", "S", "S"],
      ["o@example.com,O,+447700900512,o", "U", "U"],
    ],
  },
  {
    layout: "a table with plain headings",
    fileName: "people.csv",
    headings: "E-Mail,first_name,phone_number,Zip,Birthday,Newsletter?,Do not contact,sms opt in",
    lines: [
      ["s@example.com,Ada,+447700900511,LS1 4XX,1988-05-17,yes,,1", "S", "S"],
      ["u@example.com,Bo,,,,no,,", "U"],
      ["d@example.com,Cy,+447700900512,,,yes,x,true", "U", "U"],
      ["b@example.com,Di,,,,,,", "·"],
    ],
  },
  ...["sep=;", '"sep=;"'].map((first) => ({
    layout: `a table whose first line names the delimiter (${first})`,
    fileName: "people.csv",
    headings: `${first}\nEmail;Newsletter`,
    lines: [["a@example.com;yes", "S"] as const],
  })),
  {
    layout: "a table with one column of states",
    fileName: "people.tsv",
    headings: "email\tstatus\tmobile",
    lines: [
      ["s@example.com\tSubscribed\t+447700900511", "S", "·"],
      ["n@example.com\tNever subscribed\t", "N"],
      ["p@example.com\tpending\t", "N"],
      ["u@example.com\tOpted out\t", "U"],
      ["c@example.com\tcleaned\t", "N", "·", "suppressed"],
      ["h@example.com\tHard bounced\t", "N", "·", "suppressed"],
      ["x@example.com\tSpam complaint\t", "U"],
    ],
  },
];

const nameOf = (line: string) => /[\w.]+@[\w.]+/.exec(line)?.[0];

describe("A file with --encoding", () => {
  it.each([
    ["utf8", "Zoë"],
    ["latin1", "Zoë"],
  ] as const)(
    "is decoded by the first letter beyond ASCII, however late it comes: %s",
    async (bytes, name) => {
      const mock = await service();
      const folder = await temporaryFolder();
      const path = join(folder, "people.csv");
      const blank = ",,\n".repeat(30_000);
      await writeFile(path, `Email,First Name,Newsletter\n${blank}a@example.com,${name},yes\n`, bytes);

      await run([path, "--encoding", "windows-1252"]);

      expect(sentBodies(mock)).toMatchObject([{ first_name: name }]);
    },
  );
});

describe("A section of Mailchimp's export", () => {
  const lines = ["Email Address,First Name,LEID", "a@example.com,Ada,1"];
});

describe("A person in several files and rows has the strictest consent of all", () => {
  const files: Record<string, string[]> = {
    "subscribed_a.csv": [
      "Email Address,First Name,LEID",
      "ada@example.com,Ada,1",
      "bo@example.com,Bo,2",
      "cy@example.com,Cy,3",
    ],
    "unsubscribed_a.csv": ["Email Address,First Name,UNSUB_TIME,LEID", "ADA@Example.com,Ada,2024-01-01,1"],
    "cleaned_a.csv": ["Email Address,First Name,CLEAN_TIME,LEID", "bo@example.com,Bo,2024-01-01,2"],
    "klaviyo.csv": [
      "Email,Email Marketing Consent,Klaviyo ID",
      "cy@example.com,SUBSCRIBED,1",
      " cy@example.com ,UNSUBSCRIBED,2",
    ],
  };
  const names = Object.keys(files);

  it.each([[names], [names.toReversed()], [[...names.slice(2), ...names.slice(0, 2)]]])(
    "read in the order %j",
    async (order) => {
      const mock = await service();
      const folder = await temporaryFolder();
      const paths = [];
      for (const name of order) paths.push(await csv(folder, name, ...(files[name] ?? [])));

      const { code, out } = await run(paths);

      expect(code).toBe(0);
      expect(out).toContain("another row about the person has a stricter email consent, which counts");
      const state = mock
        .organization("real")
        .contacts.map(({ email, email_opt_in, is_suppressed }) => [email, email_opt_in, is_suppressed]);
      expect(state.toSorted(([one = ""], [other = ""]) => (String(one) < String(other) ? -1 : 1))).toEqual([
        ["ada@example.com", "UNSUBSCRIBED", false],
        ["bo@example.com", "NON_SUBSCRIBED", true],
        ["cy@example.com", "UNSUBSCRIBED", false],
      ]);
    },
  );

  it("where a row has only the telephone number of the person", async () => {
    const mock = await service();
    const path = await csv(
      await temporaryFolder(),
      "people.csv",
      "email,phone,sms_opt_in,status",
      ",+447700900511,no,",
      "ada@example.com,+44 7700 900511,yes,subscribed",
      "ada@example.com,+447700900512,yes,subscribed",
      ",+447700900512,,unsubscribed",
    );

    await run([path]);

    const bodies = sentBodies(mock);
    expect(bodies.map(({ phone_opt_in }) => phone_opt_in)).toEqual(Array(4).fill("UNSUBSCRIBED"));
    expect(bodies.flatMap(({ email_opt_in }) => email_opt_in ?? [])).toEqual([
      "UNSUBSCRIBED",
      "UNSUBSCRIBED",
    ]);
  });
});
