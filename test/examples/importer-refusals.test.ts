import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AudienceClient } from "audience-sdk";
import { readSnapshot } from "audience-sdk/snapshot";
import { describe, expect, it } from "vitest";
import type { ColumnRule } from "../../examples/exports/column-map.ts";
import {
  csv,
  emailConsents,
  mapOf,
  newsletter,
  run,
  runAlone,
  type Seeds,
  sentBodies,
  service,
  temporaryFolder,
} from "./importer-fixture.ts";

const phoneYes = { consent: "phone", words: { yes: "SUBSCRIBED", no: "UNSUBSCRIBED" } } as const;

async function imported(lines: string[], columns: Parameters<typeof mapOf>[1], ...options: string[]) {
  const mock = await service();
  const path = await csv(await temporaryFolder(), "people.csv", ...lines);
  await mapOf(path, columns);
  const { code, out, err } = await runAlone([path, ...options]);
  return { code, out, err, mock, consents: emailConsents(mock) };
}

describe("A cell that is a plain English refusal holds the person back", () => {
  it.each([
    "Unsubscribed",
    "opted-out",
    "DO NOT CONTACT",
    "Do not email",
    "complained",
    "bounced",
    "Marked as spam",
    "blacklisted",
    "Do not contact me",
    "DONOTCONTACT",
    "un-subscribe",
    "no e-mails",
    "opted out of all email",
    "Global Unsubscribe",
    "spamreport",
    "Please remove me",
    // Around the refusal: please, whom, who, the channel, how and when.
    "do not email me",
    "don't contact me",
    "don't email me",
    "please do not contact",
    "Please don't send me any more emails",
    "do not contact ever",
    "Do Not Mail",
    "do not call or email",
    "do not contact me by email",
    "stop emailing me",
    "does not want to be contacted",
    "Customer doesn't want emails",
    "no mail",
    "no more emails please",
    "has opted out",
    "Opt-out (email)",
    "unsubscribe me",
    "unsubscribed by user",
    "unsubscribed by phone",
    "Customer has opted out of marketing e-mails",
    "Status: unsubscribed",
    "Unsubscribed (2024-05-01)",
    "consent withdrawn by phone",
    "user marked us as spam",
    "email bounced",
    "hard bounce (550)",
    // In any typography.
    "opt\u2011out",
    "opt–out",
    "“opted out”",
    "‘Unsubscribed’",
    "«unsubscribed»",
    '"unsubscribed"',
    "don’t contact",
    "un\u200bsubscribed",
    "opted\u00a0out",
    "ｕｎｓｕｂｓｃｒｉｂｅｄ",
    "UNSUBSCRİBED",
    "unsubscrıbed",
    "unsubscribed,",
    "do not contact;",
    "unsubscribed.",
  ])("in an ignored column too: %s", async (word) => {
    const { code, out, consents } = await imported(
      [
        "Email,Newsletter,Notes",
        `a@example.com,yes,"${word.replaceAll('"', '""')}"`,
        "b@example.com,yes,likes tea",
      ],
      { Email: "email", Newsletter: newsletter, Notes: "ignore" },
    );

    expect({ code, consents }).toEqual({ code: 1, consents: { "b@example.com": "SUBSCRIBED" } });
    expect(out).toContain("A cell says that the person has refused: 1");
  });

  it.each([
    "not opted out",
    "has not opted out",
    "never unsubscribed",
    "no longer unsubscribed",
    "unsubscribed in error",
    "unsubscribed from competitor",
    "unsubscribe link shown",
    "opt-out form sent",
    "opted out?",
    "likes to opt out of nothing",
    "no email client installed",
    "no email address",
    "no contact person",
    "no calls",
    "do not call before 9",
    "do not send by mail",
    "do not send invoices by mail",
    "never on call",
    "please contact",
    "soft bounce",
    "never bounced",
    "bounce rate 5",
    "complained about delivery",
    "customer complained",
    "address cleaned",
  ])("and no other text does: %s", async (text) => {
    const { code, consents } = await imported(["Email,Newsletter,Notes", `a@example.com,yes,${text}`], {
      Email: "email",
      Newsletter: newsletter,
      Notes: "property",
    });

    expect({ code, consents }).toEqual({ code: 0, consents: { "a@example.com": "SUBSCRIBED" } });
  });

  it("unless the map gives the word a meaning in this column", async () => {
    const { code, consents } = await imported(["Email,Newsletter,Ticket", "a@example.com,yes,complained"], {
      Email: "email",
      Newsletter: newsletter,
      Ticket: { consent: "email", words: { complained: "none" } },
    });

    expect({ code, consents }).toEqual({ code: 0, consents: { "a@example.com": "SUBSCRIBED" } });
  });

  it("and is sent as what the map says, where that is as strict", async () => {
    const { code, consents } = await imported(["Email,Newsletter,Notes", "a@example.com,no,unsubscribed"], {
      Email: "email",
      Newsletter: newsletter,
      Notes: "property",
    });

    expect({ code, consents }).toEqual({ code: 0, consents: { "a@example.com": "UNSUBSCRIBED" } });
  });

  it.each([
    ["bounced", "Notes", [{ phone_opt_in: "SUBSCRIBED" }], 0],
    ["unsubscribed", "SMS notes", [], 1],
    ["do not text", "Notes", [], 1],
    ["do not email", "Notes", [{ phone_opt_in: "SUBSCRIBED" }], 0],
    ["do not contact me by email", "Notes", [{ phone_opt_in: "SUBSCRIBED" }], 0],
    ["unsubscribed by email", "Notes", [], 1],
    ["unsubscribed", "Notes", [], 1],
  ])("of the channel that it or its heading names: %s under %s", async (word, heading, sent, code) => {
    const { mock, ...result } = await imported([`Phone,SMS ok,${heading}`, `+447700900001,yes,${word}`], {
      Phone: "phone",
      "SMS ok": phoneYes,
      [heading]: "ignore",
    });

    expect(result.code).toBe(code);
    expect(sentBodies(mock)).toMatchObject(sent);
  });

  it.each(["Free text", "Last call result", "Mobile app notes"])(
    "of every channel under a heading that names none: %s",
    async (heading) => {
      const { code, consents } = await imported(
        [`Email,Newsletter,${heading}`, "a@example.com,yes,do not contact"],
        { Email: "email", Newsletter: newsletter, [heading]: "ignore" },
      );

      expect({ code, consents }).toEqual({ code: 1, consents: {} });
    },
  );

  it("in another row of the person, and with --consent", async () => {
    const { code, consents } = await imported(
      ["Email,Notes", "A@example.com,unsubscribed", "a@example.com,", "b@example.com,"],
      { Email: "email", Notes: "ignore" },
      "--consent",
      "SUBSCRIBED",
    );

    expect({ code, consents }).toEqual({ code: 1, consents: { "b@example.com": "SUBSCRIBED" } });
  });

  it("and stays one in the report, also if the row of the refusal was sent", async () => {
    const folder = await temporaryFolder();
    const mock = await service();
    const path = await csv(
      folder,
      "people.csv",
      "Email,Newsletter,Notes,Extra",
      "a@example.com,no,unsubscribed,",
      "c@example.com,,unsubscribed,",
      "c@example.com,yes,,x",
    );
    await mapOf(path, { Email: "email", Newsletter: newsletter, Notes: "ignore", Extra: "property" });

    const first = await runAlone([path, "--report", `${folder}/failed`]);
    const second = await runAlone([`${folder}/failed/people.csv`]);

    expect([first.code, second.code]).toEqual([1, 1]);
    expect(emailConsents(mock)["a@example.com"]).toBe("UNSUBSCRIBED");
    expect(emailConsents(mock)["c@example.com"]).not.toBe("SUBSCRIBED");
  });
});

describe("A report that is imported alone", () => {
  it("subscribes nobody whom a word in a row that was sent has held back", async () => {
    const folder = await temporaryFolder();
    const mock = await service();
    const path = await csv(
      folder,
      "people.csv",
      "Email,Phone,SMS ok",
      "a@example.com,+447700900001,yes",
      "b@example.com,+447700900001,hm",
      "b@example.com,,no",
    );
    await mapOf(path, { Email: "email", Phone: "phone", "SMS ok": phoneYes });

    const first = await runAlone([path, "--report", `${folder}/failed`]);
    await runAlone([`${folder}/failed/people.csv`]);

    expect(first.code).toBe(1);
    expect(mock.organization("real").contacts.map((one) => one.phone_opt_in)).not.toContain("SUBSCRIBED");
  });
});

it("A corrected address in a report is not subscribed if the files have unsubscribed it", async () => {
  const folder = await temporaryFolder();
  const mock = await service();
  const path = await csv(
    folder,
    "people.csv",
    "Email,Newsletter",
    "a@example.com,no",
    "a@@example.com,yes",
    "b@@example.com,yes",
    "c@@,yes",
  );
  await mapOf(path, { Email: "email", Newsletter: newsletter });
  const report = `${folder}/failed/people.csv`;
  const change = async (from: string, to: string) =>
    await writeFile(report, (await readFile(report, "utf8")).replace(from, to));

  await runAlone([path, "--report", `${folder}/failed`]);
  await change("b@@", "b@");
  await runAlone([report, "--report", `${folder}/failed`]);
  await change("a@@", "a@");
  await change("c@@", "c@example.com");
  const last = await runAlone([report, "--report", `${folder}/failed`]);

  expect({ code: last.code, consents: emailConsents(mock) }).toEqual({
    code: 0,
    consents: {
      "a@example.com": "UNSUBSCRIBED",
      "b@example.com": "SUBSCRIBED",
      "c@example.com": "SUBSCRIBED",
    },
  });
});

it("A line that was cut stays refused in the report until a missing cell is filled", async () => {
  const folder = await temporaryFolder();
  const mock = await service();
  const path = await csv(
    folder,
    "people.csv",
    "Email,Name,Newsletter,SMS",
    "a@example.com,no,yes",
    "b@@example.com,B,yes,no",
  );
  await mapOf(path, { Email: "email", Name: "first_name", Newsletter: newsletter, SMS: "ignore" });
  const report = `${folder}/failed/people.csv`;
  const change = async (from: string, to: string) =>
    await writeFile(report, (await readFile(report, "utf8")).replace(from, to));

  await runAlone([path, "--report", `${folder}/failed`]);
  await change("b@@", "b@");
  const second = await runAlone([report, "--report", `${folder}/failed`]);

  expect({ code: second.code, consents: emailConsents(mock) }).toEqual({
    code: 1,
    consents: { "b@example.com": "SUBSCRIBED" },
  });
  expect(second.out).toContain("row: has 3 cells, but there are 4 headings");

  await change("a@example.com,no,yes,,", "a@example.com,A,no,yes,");
  const third = await runAlone([report]);

  expect(third.code).toBe(0);
  expect(emailConsents(mock)["a@example.com"]).toBe("UNSUBSCRIBED");
});

describe("A row that is held back never replaces UNSUBSCRIBED by NON_SUBSCRIBED", () => {
  const never: ColumnRule = {
    consent: "email",
    words: { yes: "SUBSCRIBED", never: "NON_SUBSCRIBED", later: "hold" },
  };

  it.each([
    ["a plain refusal", "a@example.com,never,opt out", "b@example.com,yes,"],
    ["a word that the map does not name", "a@example.com,never,", "a@example.com,abbestellt,"],
    ["a word that the map holds back", "a@example.com,never,", "a@example.com,later,"],
  ])("where it has %s", async (_what, ...lines) => {
    const mock = await service([{ email: "a@example.com", email_opt_in: "UNSUBSCRIBED" }]);
    const path = await csv(await temporaryFolder(), "people.csv", "Email,Newsletter,Notes", ...lines);
    await mapOf(path, { Email: "email", Newsletter: never, Notes: "ignore" });

    const { code } = await runAlone([path]);

    expect(code).toBe(1);
    expect(emailConsents(mock)["a@example.com"]).toBe("UNSUBSCRIBED");
  });
});

describe("A cell that says nothing", () => {
  it.each([
    String.raw`\N`,
    "<NA>",
    "NaT",
    "#N/A",
    "null",
    "never",
    "00/00/0000",
    "0000-00-00 00:00:00",
    "0001-01-01T00:00:00",
    "1/1/0001 12:00:00 AM",
    "00-00-0000",
    "0000/00/00",
  ])("is no day of an opt-out: %s", async (cell) => {
    const { code, consents } = await imported(
      ["email,newsletter,unsubscribed_at", `a@example.com,1,${cell}`, "b@example.com,1,2026-11-20 10:00"],
      {
        email: "email",
        newsletter: { consent: "email", words: { 1: "SUBSCRIBED", 0: "UNSUBSCRIBED" } },
        unsubscribed_at: { consent: "email", words: { "<date>": "UNSUBSCRIBED", "": "none" } },
      },
    );

    expect({ code, consents }).toEqual({
      code: 0,
      consents: { "a@example.com": "SUBSCRIBED", "b@example.com": "UNSUBSCRIBED" },
    });
  });

  it("may be given a meaning, as any word", async () => {
    const { code, consents } = await imported(["Email,Newsletter", "a@example.com,", "b@example.com,never"], {
      Email: "email",
      Newsletter: { consent: "email", words: { "": "NON_SUBSCRIBED", never: "UNSUBSCRIBED" } },
    });

    expect({ code, consents }).toEqual({
      code: 0,
      consents: { "a@example.com": "NON_SUBSCRIBED", "b@example.com": "UNSUBSCRIBED" },
    });
  });
});

describe("A day of an opt-in", () => {
  const since = async (...cells: string[]) => {
    const { code, consents } = await imported(
      ["Email,Opt-in", ...cells.map((cell, index) => `p${index}@example.com,"${cell}"`)],
      {
        Email: "email",
        "Opt-in": { consent: "email", words: { "<date>": "SUBSCRIBED", "": "none" } },
      },
    );
    return { code, subscribed: Object.values(consents).filter((one) => one === "SUBSCRIBED").length };
  };

  it("has the names of months and weekdays, and its time", async () => {
    const days = ["5. März 2024", "Fri, Jan 5, 2024 10:00 AM EST", "3 de mayo de 2024", "1 мая 2024"];

    expect(await since(...days, "2024-05-01T10:00:00Z", "1/1/00")).toEqual({ code: 0, subscribed: 6 });
  });

  it.each([
    "Revoked Jan 9, 2024",
    "Revoked 9, 2024",
    "9 left 2024",
    "2024-05-01 left",
    "2024-05-01 OUT",
    "not 2024-05-01",
  ])("with any other word beside it is a word of its own, which holds back: %s", async (cell) => {
    expect(await since(cell)).toEqual({ code: 1, subscribed: 0 });
  });

  it.each([
    "1970-01-01 00:00:00",
    "January 1, 1970",
    "31.12.1969",
    "1/0/1900",
    "1/1/1900",
    "1900-01-00",
    "30.12.1899",
    "1/0/00",
    "2024-00-00",
    "9999-12-31",
  ])("that programs write for none is a word of its own, which holds back: %s", async (cell) => {
    expect(await since(cell)).toEqual({ code: 1, subscribed: 0 });
  });
});

describe("A list of codes", () => {
  it("has the strictest meaning of its parts, and holds back with a part that has none", async () => {
    const { code, consents } = await imported(
      [
        "Email,Left",
        'a@example.com,"[45, 12]"',
        "b@example.com,[12]",
        "c@example.com,[]",
        "d@example.com,[99]",
      ],
      {
        Email: "email",
        Left: { consent: "email", words: { 45: "UNSUBSCRIBED", 12: "SUBSCRIBED", "": "NON_SUBSCRIBED" } },
      },
    );

    expect({ code, consents }).toEqual({
      code: 1,
      consents: {
        "a@example.com": "UNSUBSCRIBED",
        "b@example.com": "SUBSCRIBED",
        "c@example.com": "NON_SUBSCRIBED",
      },
    });
  });
});

describe("One phone", () => {
  it("is one person in the digits of any script: its strictest word counts", async () => {
    const { mock, code } = await imported(
      ["email,phone,sms", "a@example.com,+491711234567,yes", ",+٤٩١٧١١٢٣٤٥٦٧,no"],
      { email: "email", phone: "phone", sms: phoneYes },
    );

    expect(code).toBe(0);
    expect(sentBodies(mock)).toEqual(
      [
        { phone: "+491711234567", phone_opt_in: "UNSUBSCRIBED" },
        { email: "a@example.com", phone: "+491711234567", phone_opt_in: "UNSUBSCRIBED" },
      ].toSorted((one, other) => (one.email ?? one.phone).localeCompare(other.email ?? other.phone)),
    );
  });
});

describe("What a file means as a whole", () => {
  it("counts for everyone in it, and over the files", async () => {
    const folder = await temporaryFolder();
    const mock = await service();
    const people = await csv(
      folder,
      "people.csv",
      "Email,Newsletter",
      "a@example.com,yes",
      "b@example.com,yes",
    );
    const left = await csv(folder, "left.csv", "Email", "A@example.com");
    await mapOf(people, { Email: "email", Newsletter: newsletter });
    await mapOf(left, { Email: "email" }, { email: "UNSUBSCRIBED" });

    const { code } = await runAlone([people, left]);

    expect(code).toBe(0);
    expect(emailConsents(mock)).toEqual({ "a@example.com": "UNSUBSCRIBED", "b@example.com": "SUBSCRIBED" });
  });

  it("is_suppressed is sent where it is true, and holds back where it is another word", async () => {
    const { mock, code } = await imported(
      [
        "Email,email_opt_in,is_suppressed",
        "a@example.com,UNSUBSCRIBED,true",
        "b@example.com,SUBSCRIBED,false",
        "c@example.com,SUBSCRIBED,ja",
      ],
      { Email: "email", email_opt_in: "email_opt_in", is_suppressed: "is_suppressed" },
    );

    expect(code).toBe(1);
    expect(sentBodies(mock)).toEqual([
      { email: "a@example.com", email_opt_in: "UNSUBSCRIBED", is_suppressed: true },
      { email: "b@example.com", email_opt_in: "SUBSCRIBED" },
    ]);
  });
});

const importedWith = async (headings: string, ...refusals: string[]) => {
  const mock = await service();
  const folder = await temporaryFolder();
  const { code, out } = await run([
    await csv(folder, "a.csv", "Email,Newsletter", "ann@example.com,yes", "eve@example.com,yes"),
    await csv(folder, "b.csv", headings, ...refusals),
  ]);
  return { code, out, consents: emailConsents(mock) };
};

const unreadable = [
  '"ann@example.com; other@example.com"',
  '"other@example.com,ann@example.com"',
  "other@example.com / Ann@Example.com",
  "other@example.com and ann@example.com",
  "'ann@example.com'",
  "‘ann@example.com’",
  "ann@example.com.",
  "ann@ｅxample.com",
  "ann@example.com (old)",
  "ann@example.com <ann@example.com>",
  "Old: mailto:ann@example.com",
];

describe("A row with an opt-out and an unreadable address", () => {
  it.each(unreadable)("stops each person in it, and makes no contact: %s", async (cell) => {
    const { code, out, consents } = await importedWith("Email,Unsubscribed", `${cell},yes`);

    expect({ code, consents }).toEqual({ code: 1, consents: { "eve@example.com": "SUBSCRIBED" } });
    expect(out).toMatch(/b\.csv, row 2: email: .*: "/);
    expect(out).toContain("a.csv, row 2: row: b.csv, row 2, may be about this person");
  });

  it.each([
    ["is in another column", "Email,Note,Unsubscribed", ",moved from ann@example.com,yes"],
    ["was never subscribed", "Email,Note,Status", "'ann@example.com',,never subscribed"],
    ["has an unknown consent", "Email,Note,Status", "'ann@example.com',,perhaps"],
    ["is suppressed", "Email,is_suppressed,Opt-in", "'ann@example.com',true,"],
  ])("stops a person who %s", async (_which, headings, row) => {
    // The second row has a known word, so that the file is not refused as a whole.
    const { code, consents } = await importedWith(headings, row, "eve@example.com,,subscribed");

    expect({ code, consents }).toEqual({ code: 1, consents: { "eve@example.com": "SUBSCRIBED" } });
  });

  it.each([
    " ann@example.com ",
    "\u200bann@example.com\u200b",
    "Ann <ann@example.com>",
    "<ann@example.com>",
    "mailto:ann@example.com",
  ])("is about one person if only this is around the address, who is unsubscribed: %j", async (cell) => {
    const { code, consents } = await importedWith("Email,Unsubscribed", `${cell},yes`);

    expect({ code, consents }).toEqual({
      code: 0,
      consents: { "ann@example.com": "UNSUBSCRIBED", "eve@example.com": "SUBSCRIBED" },
    });
  });

  it("stops nobody without an opt-out", async () => {
    const { code, consents } = await importedWith("Email,Unsubscribed", "'ann@example.com',no");

    expect({ code, consents }).toEqual({
      code: 1,
      consents: { "ann@example.com": "SUBSCRIBED", "eve@example.com": "SUBSCRIBED" },
    });
  });
});

it.each([
  ["and no address", ""],
  ["beside an address", "ann@example.com"],
])("Two telephone numbers in one cell %s stop the people of both, if they opt out", async (_where, email) => {
  const mock = await service();
  const path = await csv(
    await temporaryFolder(),
    "people.csv",
    "Email,Phone,SMS consent",
    ",+447700900511,yes",
    ",+447700900512,yes",
    ",+447700900513,yes",
    `${email},+44 7700 900511 / +44 (0)7700 900512,no`,
  );

  const { code } = await run([path]);

  expect(code).toBe(1);
  expect(mock.organization("real").contacts.flatMap(({ phone = [] }) => phone)).toEqual(["+447700900513"]);
});

it("A line with surplus cells, which may hide a refusal, also stops the other rows of its person", async () => {
  const mock = await service();
  const path = await csv(
    await temporaryFolder(),
    "people.csv",
    "email,newsletter,company,note,opted_out",
    "ann@example.com,yes,Foo, Inc,,yes",
    "ann@example.com,yes,Foo,x,",
  );

  expect((await run([path])).code).toBe(1);
  expect(Object.values(emailConsents(mock))).not.toContain("SUBSCRIBED");
});

/** An import of these lines over these contacts, of which there is a snapshot. */
async function importedOver(contacts: Seeds, lines: readonly string[], ...options: string[]) {
  const mock = await service(contacts);
  const folder = await temporaryFolder();
  const file = join(folder, "audience.ndjson");
  await using audience = new AudienceClient();
  (await readSnapshot(audience, { file })).close();
  const path = await csv(folder, "people.csv", ...lines);
  const again = () => run([path, "--snapshot", file, ...options]);
  return { mock, file, again, ...(await again()) };
}

const unsubscribed = { email: "a@example.com", email_opt_in: "UNSUBSCRIBED" } as const;
const reason = "the service knows a stricter one: the snapshot shows that the person has refused";

describe("--snapshot", () => {
  it.each([
    ["an opt-in over an opt-out", unsubscribed, "email_opt_in", "SUBSCRIBED"],
    ["a never over an opt-out", unsubscribed, "email_opt_in", "NON_SUBSCRIBED"],
    [
      "an opt-in over a suppression",
      { email: "a@example.com", email_opt_in: "SUBSCRIBED", is_suppressed: true },
      "email_opt_in",
      "SUBSCRIBED",
    ],
  ] as const)("holds back and reports %s, and imports the others", async (_what, contact, heading, word) => {
    const { mock, code, out } = await importedOver(
      [contact],
      [`email,${heading}`, `a@example.com,${word}`, "b@example.com,SUBSCRIBED"],
    );

    expect(code).toBe(1);
    expect(out).toContain("The service knows that these people have refused: 1");
    expect(out).toContain(`people.csv, row 2: email consent: is held back: ${reason}`);
    expect(sentBodies(mock)).toEqual([{ email: "b@example.com", email_opt_in: "SUBSCRIBED" }]);
    expect(emailConsents(mock)["a@example.com"]).toBe(contact.email_opt_in);
  });

  it("still sends the opt-outs of such a row, and no NON_SUBSCRIBED", async () => {
    const { mock, code } = await importedOver(
      [{ ...unsubscribed, phone: "+447700900511", phone_opt_in: "SUBSCRIBED" }],
      ["email,phone,email_opt_in,phone_opt_in", "a@example.com,+447700900511,NON_SUBSCRIBED,UNSUBSCRIBED"],
    );

    expect(code).toBe(1);
    expect(sentBodies(mock)).toEqual([{ phone: "+447700900511", phone_opt_in: "UNSUBSCRIBED" }]);
    expect(mock.organization("real").contacts).toMatchObject([
      { email_opt_in: "UNSUBSCRIBED", phone_opt_in: "UNSUBSCRIBED" },
    ]);
  });

  it("holds back nobody who is as strict in the file, or has not refused", async () => {
    const { mock, code } = await importedOver(
      [unsubscribed, { email: "b@example.com", email_opt_in: "NON_SUBSCRIBED" }],
      ["email,email_opt_in", "a@example.com,UNSUBSCRIBED", "b@example.com,SUBSCRIBED"],
    );

    expect(code).toBe(0);
    expect(emailConsents(mock)).toEqual({ "a@example.com": "UNSUBSCRIBED", "b@example.com": "SUBSCRIBED" });
  });

  it("holds back a row that leaves a refused consent to the service", async () => {
    const { mock, code, out } = await importedOver(
      [unsubscribed],
      ["email,city", "a@example.com,Leeds"],
      "--consent",
      "keep",
    );

    expect({ code, sent: sentBodies(mock) }).toEqual({ code: 1, sent: [] });
    expect(out).toContain(reason);
  });

  it("counts in a dry run, too, which sends nothing", async () => {
    const { mock, code, out } = await importedOver(
      [unsubscribed],
      ["email,email_opt_in", "a@example.com,SUBSCRIBED"],
      "--dry-run",
    );

    expect({ code, sent: sentBodies(mock) }).toEqual({ code: 1, sent: [] });
    expect(out).toContain(reason);
  });

  it("of another service, or older than a day, is refused before anything is sent", async () => {
    const { file, again } = await importedOver(
      [unsubscribed],
      ["email,email_opt_in", "b@example.com,SUBSCRIBED"],
    );
    const other = await service([unsubscribed]);

    expect(await again()).toMatchObject({ code: 2, err: expect.stringContaining("another") });
    expect(sentBodies(other)).toEqual([]);

    const text = await readFile(file, "utf8");
    await writeFile(file, text.replace(/"readAt":"[^"]*"/, '"readAt":"2020-01-01T00:00:00.000Z"'));
    expect(await again()).toMatchObject({ code: 2, err: expect.stringContaining("over a day") });
    expect(sentBodies(other)).toEqual([]);
  });

  it("that is missing, or no snapshot, is refused", async () => {
    await service();
    const path = await csv(
      await temporaryFolder(),
      "people.csv",
      "email,email_opt_in",
      "a@example.com,SUBSCRIBED",
    );

    for (const file of [`${path}.none`, path])
      expect(await run([path, "--snapshot", file])).toMatchObject({
        code: 2,
        err: expect.stringContaining(file),
      });
  });
});
