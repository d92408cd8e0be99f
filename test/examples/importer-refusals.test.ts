import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AudienceClient } from "audience-sdk";
import { everyClick, type MockService } from "audience-sdk/mock";
import { readSnapshot } from "audience-sdk/snapshot";
import { describe, expect, it } from "vitest";
import type { ColumnRule } from "../../examples/exports/column-map.ts";
import {
  type Columns,
  csv,
  emailConsents,
  imported,
  list,
  mapOf,
  newsletter,
  runAlone,
  runOnMock,
  sentBodies,
  type Seeds,
  service,
  stopped,
  table,
  temporaryFolder,
} from "./importer-fixture.ts";

const phoneYes = { consent: "phone", words: { yes: "SUBSCRIBED", no: "UNSUBSCRIBED" } } as const;

describe("A cell that is one of the exact words of refusal holds the person back", () => {
  const notes = { Email: "email", Newsletter: newsletter, Notes: "ignore" } as const;

  it.each([
    "opted-out",
    "OPTED_OUT",
    " DO NOT CONTACT ",
    "Do not email",
    "don't contact",
    "Don’t contact",
    "blacklisted",
    "UNSUBSCRİBED",
    '"[""vip"", ""unsubscribed""]"',
    '"[ ""unsubscribed"" ]"',
  ])("in an ignored column too, told by name, with the line that would send it: %s", async (word) => {
    const lines = ["Email,Newsletter,Notes", `a@example.com,yes,${word}`, "b@example.com,yes,likes tea"];

    const { code, out, consents, path, mock } = await imported(lines, notes);
    const [, line] = /write ("Notes": .*?}) in the map/.exec(out) ?? [];
    const map = await readFile(`${path}.map.json`, "utf8");
    await writeFile(`${path}.map.json`, map.replace('"Notes":"ignore"', line ?? ""));
    const answered = await runAlone([path]);

    expect({ code, consents }).toEqual({ code: 1, consents: { "b@example.com": "SUBSCRIBED" } });
    expect(out).toContain(
      "people.csv, row 2: email consent: would be SUBSCRIBED, but a cell about a@example.com",
    );
    expect(answered.code).toBe(0);
    expect(emailConsents(mock)["a@example.com"]).toBe("UNSUBSCRIBED");
  });

  it("and the line keeps the channel and the words of a column of consent", async () => {
    const Newsletter = { consent: "email", words: { ja: "SUBSCRIBED", Abgemeldet: "UNSUBSCRIBED" } } as const;
    const lines = ["Email,Newsletter", "a@example.com,Unsubscribed", "b@example.com,abgemeldet"];
    const columns: Columns = {
      Email: "email",
      Newsletter: { ...Newsletter, words: { ...Newsletter.words, "*": "none" } },
    };

    const { out, path, mock } = await imported(lines, columns, "--consent", "SUBSCRIBED", "--dry-run");
    const [, line = ""] = /write ("Newsletter": .*?}) in the map/.exec(out) ?? [];
    await mapOf(path, { Email: "email", ...(JSON.parse(`{${line}}`) as Columns) });
    const answered = await runAlone([path, "--consent", "SUBSCRIBED"]);

    expect(answered.code).toBe(0);
    expect(sentBodies(mock)).toEqual([
      { email: "a@example.com", email_opt_in: "UNSUBSCRIBED", phone_opt_in: "UNSUBSCRIBED" },
      { email: "b@example.com", email_opt_in: "UNSUBSCRIBED" },
    ]);
  });

  it.each([
    "not opted out",
    "unsubscribed in error",
    "Please remove me from the list",
    "opted out?",
    "complained about delivery",
    "désinscrit",
  ])("and no other text does, as nothing is guessed: %s", async (text) => {
    const { code, consents } = await imported(["Email,Newsletter,Notes", `a@example.com,yes,${text}`], notes);

    expect({ code, consents }).toEqual({ code: 0, consents: { "a@example.com": "SUBSCRIBED" } });
  });

  it("unless the map gives this very word a meaning in this column", async () => {
    const { code, consents } = await imported(["Email,Newsletter,Ticket", "a@example.com,yes,complained"], {
      Email: "email",
      Newsletter: newsletter,
      Ticket: { consent: "email", words: { complained: "none" } },
    });

    expect({ code, consents }).toEqual({ code: 0, consents: { "a@example.com": "SUBSCRIBED" } });
  });

  it("of every channel; but a bounce and a complaint are about the e-mail", async () => {
    const { bodies, code } = await imported(
      [
        "Phone,SMS ok,Notes",
        "+447700900001,yes,bounced",
        "+447700900002,yes,unsubscribed",
        "+447700900003,no,do not contact",
      ],
      { Phone: "phone", "SMS ok": phoneYes, Notes: "property" },
    );

    expect(code).toBe(1);
    expect(bodies).toMatchObject([
      { phone: "+447700900001", phone_opt_in: "SUBSCRIBED" },
      { phone: "+447700900003", phone_opt_in: "UNSUBSCRIBED" },
    ]);
  });

  it.each([
    ["of numbers, beside a readable address", "a@example.com,do not call,yes,"],
    ["of a consent to phone, whose map does not name it", "a@example.com,+447700900001,yes,opted out"],
  ])("in a column %s", async (_where, line) => {
    const { code, out, bodies } = await imported(
      ["Email,Phone,Newsletter,SMS", line, "b@example.com,,yes,"],
      { Email: "email", Phone: "phone", Newsletter: newsletter, SMS: phoneYes },
    );

    expect(code).toBe(1);
    expect(out).toContain(
      "email consent: would be SUBSCRIBED, but a cell about a@example.com is a plain refusal",
    );
    // The line would take the numbers away.
    expect(out).not.toContain('write "Phone"');
    expect(bodies).toEqual([{ email: "b@example.com", email_opt_in: "SUBSCRIBED" }]);
  });

  const yesOr = { yes: "SUBSCRIBED", no: "UNSUBSCRIBED", later: "none" } as const;
  const noted: Columns = {
    Email: "email",
    Phone: "phone",
    Newsletter: { consent: "email", words: yesOr },
    SMS: phoneYes,
    Notes: "ignore",
    Tag: "property",
  };
  const notedLines = (line: string) => [
    "Email,Phone,Newsletter,SMS,Notes,Tag",
    "a@example.com,,yes,,,",
    line,
  ];
  const phoneOut = { phone: "+447700900003", phone_opt_in: "UNSUBSCRIBED" };
  const emailOut = { email: "c@example.com", email_opt_in: "UNSUBSCRIBED" };

  it.each<[what: string, line: string, channel: string, options?: string[], sent?: unknown[]]>([
    ["by a blank cell", "c@example.com,,,,unsubscribed,", "email"],
    ["by the word none", "c@example.com,,later,,unsubscribed,", "email"],
    ["beside a property", "c@example.com,,,,,bounced", "email"],
    ["by --consent keep", "c@example.com,,,,complained,", "email", ["--consent", "keep"]],
    ["of a number", ",+447700900003,,,opted out,", "phone"],
    ["beside a refused address", "c@example.com,+447700900003,no,,dnc,", "phone", [], [emailOut]],
    ["for a list", "c@example.com,,,,unsubscribed,", "email", ["--list", list.id]],
    ["but for the phone", "c@example.com,+447700900003,,no,dnc,", "email", ["--list", list.id], [phoneOut]],
  ])("also where the consent is unstated, %s", async (_what, line, channel, options = [], sent = []) => {
    const { code, out, bodies } = await imported(notedLines(line), noted, ...options);

    expect(code).toBe(1);
    expect(out).toContain(
      `row 3: ${channel} consent: is unstated, which may leave the person subscribed, but a cell`,
    );
    expect(out).toMatch(/row 3: .* is a plain refusal; to send it, write "(Notes|Tag)": /);
    expect(bodies.filter(({ email }) => email !== "a@example.com")).toEqual(sent);
  });

  it("in another row about the person, told with its place and the line of the map that would send it", async () => {
    const lines = [...notedLines("c@example.com,,no,,unsubscribed,"), "c@example.com,+447700900003,,yes,,"];
    const { code, out, bodies } = await imported(lines, noted);

    expect(code).toBe(1);
    expect(out).toMatch(
      /row 4: .* but a cell of row 3 of \S+ about c@example.com is a plain refusal; to send it,/,
    );
    expect(out).toContain(`write "Notes": { "consent": "both", "words": { "*": "none", "unsubscribed": `);
    expect(bodies.slice(1)).toEqual([emailOut, emailOut]);
  });

  it("but not for a channel whose address or number the row does not have", async () => {
    const { code, bodies } = await imported(notedLines("c@example.com,,no,,unsubscribed,"), noted);

    expect(code).toBe(0);
    expect(bodies).toMatchObject([{ email: "a@example.com" }, emailOut]);
  });
});

describe("A row that names nobody and holds a refusal", () => {
  const refused: ColumnRule = { consent: "email", words: { false: "SUBSCRIBED", true: "UNSUBSCRIBED" } };
  const columns = { Email: "email", List: "property", "Opt Out": refused } as const;

  it("as the second line of a record, stops the file until its map ignores it", async () => {
    const lines = ["Email,List,Opt Out", "a@example.com,News,False", ",Events,True"];

    const { code, requests, err, mock, path } = await imported(lines, columns);
    expect({ code, requests }).toEqual(stopped);
    expect(err).toContain(
      "1 row holds a refusal, and no readable address, or number without an address:\n  row 3: , Events, True",
    );
    expect(err).toContain(`write "unnamed": "ignore" in ${path}.map.json`);

    const map = JSON.parse(await readFile(`${path}.map.json`, "utf8")) as object;
    await writeFile(`${path}.map.json`, JSON.stringify({ ...map, unnamed: "ignore" }));
    const ignored = await runAlone([path]);

    expect(ignored.code).toBe(1);
    expect(ignored.out).toContain("people.csv, row 3: email: required: an email or a phone");
    expect(emailConsents(mock)).toEqual({ "a@example.com": "SUBSCRIBED" });
  });

  it.each([
    ["an address that cannot be read", "a(at)example.com,News,True"],
    [
      "two addresses in one cell, of people whom the files do not have",
      '"x@example.com; y@example.com",News,True',
    ],
    ["a plain refusal in any column", ",do not contact,False"],
    ["a word that the map does not name", ",News,perhaps"],
    ["another number of cells", ",Events,True,x"],
  ])("stops the file, with %s", async (_what, line) => {
    const lines = ["Email,List,Opt Out", "b@example.com,News,False", line];

    const { code, requests } = await imported(lines, columns);

    expect({ code, requests }).toEqual(stopped);
  });

  it("stops a list of people who left, whose number cannot be read", async () => {
    const mock = service();
    const folder = await temporaryFolder();
    const people = await csv(folder, "people.csv", "Phone,SMS", "+49 170 1234567,yes");
    const left = await csv(folder, "left.csv", "Phone", "0170 1234567", "+49 170 7654321");
    await mapOf(people, { Phone: "phone", SMS: phoneYes });
    await mapOf(left, { Phone: "phone" }, { phone: "UNSUBSCRIBED" });

    const { code, err } = await runAlone([people, left]);

    expect({ code, requests: mock.requests.length }).toEqual(stopped);
    expect(err).toContain("row 2: 0170 1234567");
  });

  it.each([
    ["holds no refusal", ",News,False"],
    ["is refused only by what the file means as a whole", ",News,"],
  ])("does not where it %s", async (_what, line) => {
    const mock = service();
    const path = await table("Email,List,Opt Out", "b@example.com,News,True", line);
    await mapOf(path, columns, { phone: "UNSUBSCRIBED" });

    const { code } = await runAlone([path]);

    expect({ code, consents: emailConsents(mock) }).toEqual({
      code: 1,
      consents: { "b@example.com": "UNSUBSCRIBED" },
    });
  });

  it.each([
    ["two addresses in one cell", '"x@example.com; A@example.com",News,True'],
    ["signs around the address", "'a@example.com' (old),News,True"],
    ["the address in another column", ",moved from a@example.com,True"],
    ["surplus cells", "a@example.com,News, Events,True"],
  ])("counts for the person of another row whose address it holds: %s", async (_how, line) => {
    const rows = ["a@example.com,News,False", line, "b@example.com,News,False"];

    const { code, consents } = await imported(["Email,List,Opt Out", ...rows], columns);

    expect(code).toBe(1);
    expect(consents).toMatchObject({ "b@example.com": "SUBSCRIBED" });
    expect(consents["a@example.com"]).not.toBe("SUBSCRIBED");
  });
});

describe("A row that is held back", () => {
  it.each([
    ["a word that the map does not name", "a@example.com,+447700900001,paused,no,", ""],
    ["a word that the map holds back", "a@example.com,+447700900001,later,no,", ""],
    ["a plain refusal, and is in a list", "a@example.com,+447700900001,yes,no,bounced", list.id],
    ["no e-mail consent, and is to join a list", "a@example.com,+447700900001,,no,", list.id],
    ["a number that cannot be read", "a@example.com,0171 1,,no,", list.id],
  ])("does not lose its opt-out of phone messages: it has %s", async (_why, line, listId) => {
    const words = { yes: "SUBSCRIBED", later: "hold" } as const;
    const columns: Columns = {
      Email: "email",
      Phone: "phone",
      Newsletter: { consent: "email", words },
      SMS: phoneYes,
      Notes: "ignore",
    };
    const { code, bodies } = await imported(
      ["Email,Phone,Newsletter,SMS,Notes", line, "b@example.com,,yes,,"],
      columns,
      ...(listId === "" ? [] : ["--list", listId]),
    );

    expect(code).toBe(1);
    const refusals = bodies.filter(({ phone_opt_in }) => phone_opt_in === "UNSUBSCRIBED");
    const who = line.includes("0171") ? { email: "a@example.com" } : { phone: "+447700900001" };
    expect(refusals).toEqual([{ ...who, phone_opt_in: "UNSUBSCRIBED" }]);
  });

  it("suppresses the person of its address, and nobody else by its number", async () => {
    const { code, bodies } = await imported(
      ["Email,Phone,SMS,S,Notes", "a@example.com,+447700900001,no,true,bounced"],
      { Email: "email", Phone: "phone", SMS: phoneYes, S: "is_suppressed", Notes: "ignore" },
      "--consent",
      "SUBSCRIBED",
    );

    expect(code).toBe(1);
    const person = { email: "a@example.com", phone: "+447700900001" };
    expect(bodies).toEqual([{ ...person, phone_opt_in: "UNSUBSCRIBED", is_suppressed: true }]);
  });

  it("never replaces UNSUBSCRIBED by NON_SUBSCRIBED", async () => {
    const mock = service([{ email: "a@example.com", email_opt_in: "UNSUBSCRIBED" }]);
    const path = await table("Email,N", "a@example.com,never", "a@example.com,hm");
    await mapOf(path, { Email: "email", N: { consent: "email", words: { never: "NON_SUBSCRIBED" } } });

    expect((await runAlone([path])).code).toBe(1);
    expect(emailConsents(mock)).toEqual({ "a@example.com": "UNSUBSCRIBED" });
  });
});

describe("A word", () => {
  const left: ColumnRule = { consent: "email", words: { "<date>": "UNSUBSCRIBED", "": "none" } };
  const columns = { email: "email", newsletter, left } as const;

  it.each([
    String.raw`\N`,
    "<NA>",
    "NaT",
    "#N/A",
    "null",
    "00/00/0000",
    "0000-00-00 00:00:00",
    "0001-01-01T00:00:00",
  ])("that stands for nothing is no day of an opt-out: %s", async (cell) => {
    const lines = [
      "email,newsletter,left",
      `a@example.com,yes,${cell}`,
      "b@example.com,yes,2026-11-20 10:00",
    ];

    const { code, consents } = await imported(lines, columns);

    expect({ code, consents }).toEqual({
      code: 0,
      consents: { "a@example.com": "SUBSCRIBED", "b@example.com": "UNSUBSCRIBED" },
    });
  });

  const since: ColumnRule = { consent: "email", words: { "<date>": "SUBSCRIBED", "": "none" } };

  const importedSince = async (cell: string) => {
    const lines = ["Email,Opt-in", `a@example.com,"${cell}"`];
    const { code, consents } = await imported(lines, { Email: "email", "Opt-in": since });
    return { code, consents };
  };

  it.each([
    "2024-05-01T10:00:00Z",
    "1/1/00",
    "5 January 2024",
    "Fri, Jan 5, 2024 10:00 AM",
    "1714550400000000",
    "1714550400.25",
    "1,71455E+12",
    "2024-05-01 10:00:00+0000",
    "20240501000000",
    "20240501T100000Z",
    "01052024",
    "2024年5月1日",
    "01.05.2024.",
    "2024. 5. 1.",
    "01 05 2024",
    "(24/5/1)",
    "1\u200f/5\u200f/2024",
    "05/2024",
    "May 2024",
    "Sept. 2024",
    "202405",
  ])("is a day or a time as a whole cell: %s", async (cell) => {
    expect(await importedSince(cell)).toEqual({ code: 0, consents: { "a@example.com": "SUBSCRIBED" } });
  });

  it.each([
    "2024-05-01 left",
    "not 2024-05-01",
    "5. März 2024",
    "1970-01-01",
    "1970-1-1",
    "1969-12-31",
    "2024-01-00",
    "1970-01-01 00:00:00",
    "January 1, 1970",
    "1. 1. 1970.",
    "19700101000000",
    "190001",
    "20241301",
    "31/2024",
    "31.12.1969",
    "1900-01-00",
    "30.12.1899",
    "9999-12-31",
  ])(
    "with anything beside a day, or a day that programs write for none, is a word of its own, which holds back: %s",
    async (cell) => {
      expect(await importedSince(cell)).toEqual({ code: 1, consents: {} });
    },
  );

  it("may be any, as * says, but not to subscribe", async () => {
    const notes = (other: string) =>
      ({ consent: "email", words: { bye: "UNSUBSCRIBED", "*": other } }) as ColumnRule;
    const lines = ["Email,N,Notes", "a@example.com,yes,tea", "b@example.com,yes,bye"];

    const { consents } = await imported(lines, { Email: "email", N: newsletter, Notes: notes("none") });
    const refused = await imported(lines, { Email: "email", N: newsletter, Notes: notes("SUBSCRIBED") });

    expect(consents).toEqual({ "a@example.com": "SUBSCRIBED", "b@example.com": "UNSUBSCRIBED" });
    expect(refused).toMatchObject({
      code: 2,
      err: expect.stringContaining("subscribes nobody: name the words"),
    });
  });

  const starred: ColumnRule = {
    consent: "both",
    words: {
      yes: "SUBSCRIBED",
      no: "UNSUBSCRIBED",
      mail: { email: "SUBSCRIBED", phone: "UNSUBSCRIBED" },
      "*": "none",
    },
  };
  const importedStarred = async (...rows: string[]) =>
    await imported(
      ["Email,Ok,Other", ...rows, "z@example.com,,"],
      { Email: "email", Ok: starred, Other: newsletter },
      "--consent",
      "SUBSCRIBED",
    );

  it.each([
    ["", "SUBSCRIBED"],
    ["yes", "SUBSCRIBED"],
    ["nein", undefined],
    ["yes, but not by e-mail", undefined],
    ["nein; yes", undefined],
    ["no, I said", "UNSUBSCRIBED"],
    ["[ ]", undefined],
  ])(
    "that * stands for lets no opt-in of its cell through, and none of --consent: %s",
    async (cell, state) => {
      const { code, consents } = await importedStarred(`a@example.com,"${cell}",`);

      expect({ code, consents }).toEqual({
        code: 0,
        consents: { "a@example.com": state ?? "NON_SUBSCRIBED", "z@example.com": "SUBSCRIBED" },
      });
    },
  );

  it("that * stands for loses no refusal beside it, and the plan tells whom --consent does not subscribe", async () => {
    const { bodies, out } = await importedStarred('a@example.com,"mail, later",');

    expect(bodies[0]).toEqual({ email: "a@example.com", phone_opt_in: "UNSUBSCRIBED" });
    expect(out).toContain('"mail, later" → phone UNSUBSCRIBED and email says nothing');
    expect(out).toContain("row 2: --consent SUBSCRIBED does not answer a word about the person");
  });

  it("that * stands for counts over all rows of the person, and beside the word of another column that counts", async () => {
    const { consents } = await importedStarred(
      "a@example.com,nein,",
      "A@example.com,,",
      "b@example.com,likes tea,yes",
    );

    expect(consents).toMatchObject({ "a@example.com": "NON_SUBSCRIBED", "b@example.com": "SUBSCRIBED" });
  });

  it("that * stands for is no consent of its file, and holds back no number that ends as its own", async () => {
    const lines = ["Email,Phone,Ok", ",+447700900001,nein", "a@example.com,07700 900001,"];
    const phones: Columns = { Email: "email", Phone: "phone", Ok: starred };

    expect(await imported(lines, phones)).toMatchObject(stopped);
    expect((await imported(lines, phones, "--consent", "keep")).code).toBe(0);
  });

  it("that * stands for counts in a corrected report of another row of the person too", async () => {
    const mock = service();
    const path = await table("Email,Ok", "a@example.com,nein", "a(at)example.com,");
    await mapOf(path, { Email: "email", Ok: starred });
    const report = join(await temporaryFolder(), "people.csv");
    await runAlone([path, "--consent", "SUBSCRIBED", "--report", dirname(report)]);
    await writeFile(report, (await readFile(report, "utf8")).replace("(at)", "@"));

    const { code } = await runAlone([report, "--consent", "SUBSCRIBED"]);

    expect({ code, consents: emailConsents(mock) }).toEqual({
      code: 0,
      consents: { "a@example.com": "NON_SUBSCRIBED" },
    });
  });

  it("in a list of codes counts with the others, the strictest first, and holds back where one has no meaning", async () => {
    const words = { 45: "UNSUBSCRIBED", 12: "SUBSCRIBED", "[]": "NON_SUBSCRIBED" } as const;
    const cells = ['"[45, 12]"', "[12]", "[]", "[99]"].map((cell, index) => `p${index}@example.com,${cell}`);

    const { code, bodies } = await imported(["Email,Left", ...cells], {
      Email: "email",
      Left: { consent: "email", words },
    });

    expect(code).toBe(1);
    expect(bodies).toEqual([
      { email: "p0@example.com", email_opt_in: "UNSUBSCRIBED" },
      { email: "p1@example.com", email_opt_in: "SUBSCRIBED" },
      { email: "p2@example.com", email_opt_in: "NON_SUBSCRIBED" },
    ]);
  });
});

describe("What a file means as a whole", () => {
  it.each([
    ["its map says", { email: "UNSUBSCRIBED" }, []],
    ["--consent says of a file without a consent", undefined, ["--consent", "UNSUBSCRIBED"]],
  ] as const)("counts for everyone in it, and over the files, as %s", async (_who, everyone, options) => {
    const folder = await temporaryFolder();
    const mock = service();
    const lines = ["Email,Newsletter", "a@example.com,yes", "b@example.com,yes"];
    const people = await csv(folder, "people.csv", ...lines);
    const left = await csv(folder, "left.csv", "Email", "A@example.com");
    await mapOf(people, { Email: "email", Newsletter: newsletter });
    await mapOf(left, { Email: "email" }, everyone);

    const { code } = await runAlone([people, left, ...options]);

    expect(code).toBe(0);
    expect(emailConsents(mock)).toEqual({ "a@example.com": "UNSUBSCRIBED", "b@example.com": "SUBSCRIBED" });
  });

  it("is_suppressed is sent where it is true, and holds back where it is another word", async () => {
    const { bodies, code } = await imported(
      [
        "Email,email_opt_in,is_suppressed",
        "a@example.com,UNSUBSCRIBED,true",
        "b@example.com,SUBSCRIBED,false",
        "c@example.com,SUBSCRIBED,ja",
      ],
      { Email: "email", email_opt_in: "email_opt_in", is_suppressed: "is_suppressed" },
    );

    expect(code).toBe(1);
    expect(bodies).toEqual([
      { email: "a@example.com", email_opt_in: "UNSUBSCRIBED", is_suppressed: true },
      { email: "b@example.com", email_opt_in: "SUBSCRIBED" },
    ]);
  });
});

it("A map whose column is no field is refused with all fields that it may be, as the service's own consents", async () => {
  const { code, err } = await imported(["Email,N", "a@example.com,yes"], {
    Email: "email",
    N: "e_mail" as "email",
  });

  expect(code).toBe(2);
  expect(err).toMatch(
    /"N" is no field of a contact \(email, .*, email_opt_in, phone_opt_in, is_suppressed, double/,
  );
});

it("double_opt_in is sent where it is true with an opt-in to e-mail, and otherwise told; another word holds back", async () => {
  const { bodies, code, out } = await imported(
    [
      "Email,Newsletter,Confirm",
      "a@example.com,yes,true",
      "b@example.com,no,true",
      "c@example.com,yes,false",
      "d@example.com,yes,soon",
    ],
    { Email: "email", Newsletter: newsletter, Confirm: "double_opt_in" },
  );

  expect(code).toBe(1);
  expect(bodies).toEqual([
    { email: "a@example.com", email_opt_in: "SUBSCRIBED", double_opt_in: true },
    { email: "b@example.com", email_opt_in: "UNSUBSCRIBED" },
    { email: "c@example.com", email_opt_in: "SUBSCRIBED" },
  ]);
  expect(out).toContain("double_opt_in, where it is true, and goes with an opt-in to e-mail alone");
});

/** Writes a snapshot of the service. */
async function snapshotOf(mock: MockService, folder: string): Promise<string> {
  const file = join(folder, "audience.ndjson");
  await using audience = new AudienceClient(mock.clientOptions);
  (await readSnapshot(audience, { file })).close();
  return file;
}

/** An import of these lines over these contacts, of which there is a snapshot. */
async function importedOver(contacts: Seeds, lines: readonly string[], ...options: string[]) {
  const mock = service(contacts);
  const folder = await temporaryFolder();
  const file = await snapshotOf(mock, folder);
  const path = await csv(folder, "people.csv", ...lines);
  return { mock, file, folder, ...(await runOnMock(mock, [path, "--snapshot", file, ...options])) };
}

const unsubscribed = { email: "a@example.com", email_opt_in: "UNSUBSCRIBED" } as const;

describe("With --snapshot a refusal at the service stands, in place of the file's word", () => {
  it.each([
    ["an opt-in over an opt-out", unsubscribed, "SUBSCRIBED"],
    ["a never over an opt-out", unsubscribed, "NON_SUBSCRIBED"],
  ])(
    "%s: all else goes through, the row is in the report, and the exit code is 0",
    async (_what, contact, word) => {
      const folder = await temporaryFolder();
      const { mock, code, out } = await importedOver(
        [contact],
        ["email,email_opt_in,city", `a@example.com,${word},Leeds`, "b@example.com,SUBSCRIBED,York"],
        "--report",
        join(folder, "kept"),
      );

      expect(code).toBe(0);
      expect(out).toContain(
        "1 row keeps a refusal that the service knows, in place of the word of the file.",
      );
      expect(await readFile(join(folder, "kept/people.csv"), "utf8")).toContain(
        `a@example.com,${word},Leeds,"was imported, and keeps the refusal`,
      );
      expect(mock.resubscriptions).toEqual([]);
      expect(mock.organization("real").contacts).toMatchObject([
        { ...contact, city: "Leeds" },
        { city: "York" },
      ]);
    },
  );

  it("of another service, missing or no snapshot, it is refused before anything is sent", async () => {
    const { mock, file, folder } = await importedOver(
      [unsubscribed],
      ["email,email_opt_in", "b@example.com,SUBSCRIBED"],
    );
    const sent = mock.requests.length;
    const people = join(folder, "people.csv");
    const other = await runAlone([people, "--snapshot", file]);

    expect(other).toMatchObject({ code: 2, err: expect.stringContaining("another") });
    for (const wrong of [`${file}.none`, people])
      expect(await runAlone([people, "--snapshot", wrong])).toMatchObject({
        code: 2,
        err: expect.stringContaining(wrong),
      });
    expect(mock.requests).toHaveLength(sent);
  });
});

describe("Over two nights with --resume and --snapshot", () => {
  const seeds = ["a", "b"].map((name) => ({
    email: `${name}@example.com`,
    email_opt_in: "SUBSCRIBED" as const,
  }));
  const organizations = [
    { id: "real", apiKeys: ["mock-key-of-a-service"], appId: "mock-app", lists: [list], contacts: seeds },
  ];

  it("no click of anybody is undone, before any request", async () => {
    const { runs } = await everyClick(
      async (mock) => {
        const folder = await temporaryFolder();
        const unchanged = ["b@example.com,yes,York", "c@example.com,yes,Hull"];
        for (const rows of [
          ["a@example.com,yes,Leeds", ...unchanged],
          ["a@example.com,yes,York", "c@example.com,yes,Bath", ...unchanged],
        ]) {
          const path = await csv(folder, "people.csv", "Email,Newsletter,City", ...rows);
          await mapOf(path, { Email: "email", Newsletter: newsletter, City: "city" });
          const snapshot = await snapshotOf(mock, folder);
          const options = ["--resume", join(folder, "ckpt"), "--snapshot", snapshot];
          const { code, err } = await runOnMock(mock, [path, ...options]);
          expect({ code, err }).toEqual({ code: 0, err: "" });
        }
      },
      { mock: { organizations } },
    );

    expect(runs).toBeGreaterThan(30);
  });

  it("a new second line of a person who has left does not subscribe her again", async () => {
    const mock = service();
    const folder = await temporaryFolder();
    const night = async (...rows: string[]) => {
      const path = await csv(folder, "people.csv", "Email,Newsletter,City", ...rows);
      await mapOf(path, { Email: "email", Newsletter: newsletter, City: "city" });
      return await runAlone([path, "--resume", join(folder, "ckpt")]);
    };

    await night("a@example.com,yes,Leeds");
    mock.unsubscribe("a@example.com");
    const { code, out } = await night("a@example.com,yes,Leeds", "A@example.com,yes,York");

    expect(code).toBe(0);
    expect(out).toContain("1 row keeps a refusal");
    expect(mock.resubscriptions).toEqual([]);
    expect(emailConsents(mock)).toEqual({ "a@example.com": "UNSUBSCRIBED" });
  });
});
