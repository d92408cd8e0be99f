import { access, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { repository } from "../project/source-files.ts";
import {
  imported,
  csv,
  emailConsents,
  mapIn,
  mapOf,
  newsletter,
  openIn,
  runAlone,
  runOnTerminal,
  sentBodies,
  service,
  stopped,
  table,
  temporaryFolder,
} from "./importer-fixture.ts";

describe("Without a terminal a column that looks like a state is a question", () => {
  it("of which the map is written as a skeleton, and nothing is sent", async () => {
    const mock = service([{ email: "a@example.com", email_opt_in: "UNSUBSCRIBED" }]);
    const lines = ["a@example.com,yes,2026-11-20", "b@example.com,yes,2026-11-21"];
    const path = await table("Email,newsletter,unsubscribed_at", ...lines);

    const { code, err } = await runAlone([path, "--consent", "SUBSCRIBED"]);

    expect({ code, requests: mock.requests.length }).toEqual(stopped);
    expect(err).toContain('"unsubscribed_at"');
    expect(await openIn(path)).toEqual(["newsletter", "unsubscribed_at"]);
  });

  it("as in the session that its guide shows", async () => {
    service();
    const lines = ["a@example.com,ja,gold", "b@example.com,nein,silber", "c@example.com,ja,gold"];
    const path = await csv(await temporaryFolder(), "contacts.csv", "E-Mail,Newsletter,Stufe", ...lines);

    const { out, err } = await runAlone([path]);

    const guide = await readFile(join(repository, "examples/guides/importer.md"), "utf8");
    const session = `${out}${err}`.replaceAll(join(dirname(path), "/"), "");
    expect(guide).toContain(`$ npm run import -- contacts.csv\n${session}\`\`\``);
  });

  it.each(["opted_out", "unsub_time", "deactivated_at", "left_at", "LeftOn"])(
    "also where everybody has a day, under a heading of refusals: %s",
    async (heading) => {
      service();
      const path = await table(`email,${heading}`, "a@example.com,2026-11-20", "b@example.com,2026-11-21");
      await runAlone([path, "--consent", "SUBSCRIBED"]);

      expect(await openIn(path)).toEqual([heading]);
    },
  );

  it("and so is what a file with the name of a list of refusals means", async () => {
    const mock = service();
    const path = await csv(await temporaryFolder(), "unsubscribed_2026-11.csv", "email", "a@example.com");

    const { code, err } = await runAlone([path, "--consent", "SUBSCRIBED"]);

    expect({ code, requests: mock.requests.length }).toEqual(stopped);
    expect(err).toContain("by its name it may be a list of people who left");
    expect(await mapIn(path)).toMatchObject({ everyone: { email: "?", phone: "?" } });
  });
});

/** An import by nobody who answers: what was sent, and the column's place in the map. */
async function importedColumn(heading: string, ...cells: string[]) {
  const mock = service();
  const lines = cells.map((cell, index) => `person-${index}@example.com,SUBSCRIBED,${cell}`);
  const path = await csv(
    await temporaryFolder(),
    "people.csv",
    `email,email_opt_in,${heading}`,
    ...lines,
    "other@example.com,SUBSCRIBED,",
  );
  const { code } = await runAlone([path]);
  const { columns } = await mapIn(path);
  const isOpen = (await openIn(path)).includes(heading);
  return { code, sent: sentBodies(mock), column: isOpen ? "?" : columns[heading] };
}

const question = { code: 2, sent: [], column: "?" };

// The other column makes each person a subscriber. A refusal beside it is asked, not guessed.
describe("A column in which a refusal may stand is asked, and nothing is sent", () => {
  it.each([
    ["Kein Newsletter", "yes"],
    ["Remark", "Abgemeldet am 1. Mai"],
    ["Tags", '"newsletter, unsubscribed"'],
    ["Datum", "2026-11-20"],
    ["Bounced", "1"],
    ["subscriber_type", "complained", "unsubscribed"],
    ["Stato", "Iscritta", "Cancellato"],
  ])("%s: %s", async (heading, ...cells) => {
    expect(await importedColumn(heading, ...cells)).toEqual(question);
  });

  it.each<[cell: (day: number) => string, heading?: string]>([
    [(day) => `${day}. März 2024`],
    [(day) => `${day + 10}.01.2023 08:01 Uhr`],
    [(day) => `令和5年1月${day}日`, "配信停止日"],
    [(day) => `${44_928 + day}`],
    [(day) => `${44_928 + day},334`],
    [(day) => `${Date.UTC(2023, 0, day) / 1_000}.5`],
    [(day) => `${(1.67 + day / 1_000).toFixed(3)}E+12`],
    [(day) => `${20_230_100 + day}000000`],
    [(day) => `${20_230_100 + day}T0804`],
    [(day) => `0${1 + (day % 9)}/${day + 10}`],
  ])("days of some, in any language: %s", async (cell, heading = "Austritt") => {
    const days = Array.from({ length: 13 }, (_, day) => `"${cell(day + 1)}"`);

    expect(await importedColumn(heading, ...days)).toEqual(question);
  });
});

/** An import by nobody who answers of a file with these columns, each with an empty last cell: those that are open. */
async function openAmong(columns: Readonly<Record<string, readonly string[]>>): Promise<string[]> {
  service();
  const cells = Object.values(columns);
  const rows = Array.from({ length: cells[0]!.length + 1 }, (_, row) =>
    [`p${row}@example.com`, ...cells.map((own) => `"${own[row] ?? ""}"`)].join(","),
  );
  const path = await table(["email", ...Object.keys(columns).map((name) => `"${name}"`)].join(","), ...rows);
  await runAlone([path, "--consent", "SUBSCRIBED", "--dry-run"]);
  return await openIn(path);
}

describe("What may be a day of somebody is asked before what may be a number to call", () => {
  const languages =
    "af am ar ar-EG az be bg bn bs ca cs cy da de de-AT el en en-CA en-GB eo es et eu fa fi fil fr fr-CA ga gl gu he hi hr hu hy " +
    "id is it ja ka kk km kn ko ky lo lt lv mk ml mn mr ms my nb ne nl pa pl ps pt ro ru si sk sl sq sr sv sw ta te th tr uk ur uz vi yo zh zh-HK zu";

  it.each([3, 14])("in the short and the medium form of each language, of %i people", async (people) => {
    const days = Array.from({ length: people }, (_, day) =>
      Date.UTC(2018 + (day % 6), day % 12, 1 + day * 2),
    );
    const columns = Object.fromEntries(
      languages.split(" ").flatMap((language) =>
        (["short", "medium"] as const).map((dateStyle) => {
          const { format } = new Intl.DateTimeFormat(language, { dateStyle, timeZone: "UTC" });
          return [`${language} ${dateStyle}`, days.map((day) => format(day))];
        }),
      ),
    );

    expect(await openAmong(columns)).toEqual(Object.keys(columns));
  });

  // In the manner of many countries, with their codes and without.
  const numbers =
    "+44 20 7### ####|020 7### ####|07### ######|(21#) 5##-####|21#-5##-####|21#.5##.####|+1 21# 5## ####|1-21#-5##-####|01 ## ## ## ##|" +
    "06.##.##.##.##|06-##-##-##-##|+33 6 ## ## ## ##|030 ########|0171/#######|0171 - #######|(030) #### ##|0049 171 #######|+49 (0)30 #####-##|" +
    "9## ## ## ##|6## ### ###|20 ## ## ##|4## ## ###|070-### ## ##|0## ### ## ##|8 (9##) ###-##-##|090-####-####|03-####-####|" +
    "010-####-####|1## #### ####|9#### #####|(11) 9####-####|11 5### ####|0412 ### ###|0450-##-##-##|5## ### ## ##|2#######|+2010########|" +
    "3########|60########";

  it.each([5, 12, 60])("while a column of numbers is data, of %i people", async (people) => {
    const digit = (row: number, at: number) =>
      String(Math.floor(Math.abs(Math.sin(row * 97 + at * 31)) * 1e4) % 10);
    const columns = Object.fromEntries(
      numbers
        .split("|")
        .map((form) => [
          form,
          Array.from({ length: people }, (_, row) =>
            form.replace(/#/g, (_sign, at: number) => digit(row + 1, at)),
          ),
        ]),
    );

    expect(await openAmong(columns)).toEqual([]);
  });
});

const rowsOf = (...cells: string[]) => Array.from({ length: 20 }, (_, row) => cells[row % cells.length]!);
const shared = (...cells: string[]) => rowsOf(...cells.map((cell) => `"${cell}"`));
const wordsOf = (words: number, people: number) =>
  Array.from({ length: people }, (_, row) => `Zustand ${row % words}`);
const longYes = "Ja, ich willige ein, dass die Muster GmbH mir den Newsletter zusendet. ".repeat(2).trim();

describe("A few values that many people share are asked, whatever they are", () => {
  it.each<[string, string[], heading?: string]>([
    ["long sentences", shared(longYes, "Nein danke")],
    ["long numbers", shared("100000000", "100000001")],
    ["some dozens of words", wordsOf(48, 96)],
    [
      "lists of some dozens of words",
      rowsOf(...wordsOf(20, 20).map((word) => `"VIP, ${word}, Messe"`), ...wordsOf(20, 20)),
    ],
    ["a word of many beside remarks of others", [...wordsOf(60, 60), ...shared("gesperrt")]],
    [
      "days of many beside remarks of others",
      [...wordsOf(40, 40), ...wordsOf(9, 9).map((_, day) => `2024-01-1${day}`)],
    ],
    ["codes of one person, and of two", ["1000", "2000", "1000"]],
    ["words with a number behind them", ["opt-out-01", "opt-out-02", "opt-in-001"]],
    ["under the name of the addresses", shared("ja", "nein", "k.A."), "E-Mail"],
    ["under one of the numbers", shared("ja", "nein", "ja seit 2021"), "SMS"],
    ["beside a number", shared("yes", "no", "n/a", "+447700900001"), "Phone"],
  ])("%s", async (_what, cells, heading = "Zustand") => {
    expect(await importedColumn(heading, ...cells)).toEqual(question);
  });

  it.each([
    ["long texts", [longYes, `${longYes} Gruß`]],
    ["amounts that are like years", ["1999,90", "2024,50"]],
    ["amounts, of which some are zero", ["0", "1200", "0", "1350.50", "0"]],
    ["numbers of more than twelve kinds", wordsOf(13, 60).map((word) => word.replace(/\D+/, ""))],
    ["addresses", rowsOf("owner@example.com", "other@example.com")],
    ["many words, which people share", wordsOf(60, 180)],
    ["names, of which a few come twice", wordsOf(40, 60)],
    ["numbers of five digits, some in thousands", ["35000", "1200", "44929"]],
    ["lists of many words", wordsOf(100, 100).map((word) => `Messe, ${word}`)],
    ["codes that nobody shares", ["RE-2026-0001", "RE-2026-0002", "8f14e45f-ceea", "sub_1NffrFe4UfNV"]],
  ])("but data is no question: %s", async (_what, cells) => {
    expect(await importedColumn("Wert", ...cells.map((cell) => `"${cell}"`))).toMatchObject({
      code: 0,
      column: "property",
    });
  });
});

describe("The skeleton of a column of more than 50 words holds those of most rows, and * for all others", () => {
  const days = wordsOf(80, 80).map((_, row) => `${1 + (row % 28)}. März ${2015 + (row % 3)}`);
  const remarks = wordsOf(80, 80);
  const writtenOf = async (cells: readonly string[], heading = "Stand", last = "q@example.com,") =>
    await table(`Email,${heading}`, ...cells.map((cell, row) => `p${row}@example.com,${cell}`), last);
  const wordsIn = async (path: string, heading = "Stand") =>
    ((await mapIn(path)).columns[heading] as { words: Record<string, string> }).words;
  const times = (count: number, answer: string) => Array.from({ length: count }, () => answer);

  it.each([
    ["days in another language", days, ["1. märz 2015", "*"]],
    ["a word of many beside remarks", [...remarks, ...rowsOf("gesperrt")], ["gesperrt", "*"]],
    ["days beside remarks", [...remarks, ...rowsOf("2024-01-05")], ["<date>", "*"]],
    ["50 words alone", wordsOf(50, 100), ["zustand 0", "zustand 49"]],
  ])("%s, whose answers count for each of its people", async (_what, cells, ends) => {
    const mock = service();
    const path = await writtenOf(cells);
    const first = await runAlone([path, "--consent", "SUBSCRIBED"]);
    const words = Object.keys(await wordsIn(path));
    const text = (await readFile(`${path}.map.json`, "utf8")).replace('"?"', '"email"');
    await writeFile(`${path}.map.json`, text.replaceAll('"?"', '"UNSUBSCRIBED"'));
    const { code } = await runAlone([path, "--consent", "SUBSCRIBED"]);

    expect([first.code, code]).toEqual([2, 0]);
    expect([words[0], words.at(-1)]).toEqual(ends);
    expect(words).toHaveLength(ends[1] === "*" ? 51 : 50);
    const { "q@example.com": other, ...left } = emailConsents(mock);
    expect([other, ...new Set(Object.values(left))]).toEqual(["SUBSCRIBED", "UNSUBSCRIBED"]);
  });

  it("beside the words that are known exactly, and a terminal asks them all", async () => {
    service();
    const heading = "Email Marketing Consent";
    const path = await writtenOf(remarks, heading, "q@example.com,SUBSCRIBED");
    await runAlone([path]);

    expect(await wordsIn(path, heading)).toMatchObject({ subscribed: "SUBSCRIBED", "*": "?" });
    expect((await runOnTerminal([path], [...times(50, "-"), "u", "y"])).code).toBe(0);
    expect(await openIn(path)).toEqual([]);
  });

  it("and a terminal asks what all others mean, which subscribes nobody", async () => {
    const mock = service();
    const path = await writtenOf([...remarks, ...rowsOf("gesperrt")]);
    const answers = ["1", "u", ...times(49, "s"), "s", "h", "y"];

    const { code, out } = await runOnTerminal([path, "--consent", "NON_SUBSCRIBED"], answers);

    expect(code).toBe(1);
    expect(out).toMatch(/any other word means\n {2}n never subscribed.*"s" is no answer/s);
    expect(await wordsIn(path)).toMatchObject({ gesperrt: "UNSUBSCRIBED", "*": "hold" });
    expect(Object.values(emailConsents(mock)).filter((state) => state === "SUBSCRIBED")).toHaveLength(49);
  });
});

it("The skeleton holds signs that are no word too, and such a cell is no blank", async () => {
  const signs = ["[x]", "[ ]", "( )", "[]", "{}", "||", "|", '""""""', '","'];
  const mock = service();
  const path = await table("Email,Newsletter", ...signs.map((sign, row) => `p${row}@example.com,${sign}`));
  const args = [path, "--consent", "SUBSCRIBED"];
  await runAlone(args);
  const words = ["[x]", "[ ]", "( )", "[]", "{}", "||", "|", '""', ","];

  expect(await mapIn(path)).toMatchObject({
    columns: { Newsletter: { consent: "?", words: Object.fromEntries(words.map((word) => [word, "?"])) } },
  });
  await mapOf(path, { Email: "email", Newsletter: { consent: "email", words: { "[x]": "SUBSCRIBED" } } });
  expect((await runAlone(args)).code).toBe(1);
  expect(emailConsents(mock)).toEqual({ "p0@example.com": "SUBSCRIBED" });
});

it("A word of many characters is printed in short, and asked whole", async () => {
  service();
  const text = "Ja, ich will. ".repeat(20_000).trim();
  const path = await table(
    "Email,Newsletter",
    `a@example.com,"${text}"`,
    "b@example.com,nein",
    "c@example.com,nein",
  );
  const asked = await runAlone([path]);
  const onTerminal = await runOnTerminal([path], ["1", "s", "u", "n"]);

  for (const { out, err } of [asked, onTerminal]) expect(`${out}${err}`.length).toBeLessThan(10_000);
  expect(await mapIn(path)).toMatchObject({
    columns: { Newsletter: { words: { [text.toLowerCase()]: "SUBSCRIBED" } } },
  });
});

describe("A column answers itself", () => {
  it("where it is a field, has the service's own words, or holds data", async () => {
    const mock = service();
    const rows = Array.from(
      { length: 15 },
      (_, row) =>
        `p${row}@example.com,Name ${row},+4477009000${10 + row},SUBSCRIBED,${row}.5,text ${row} of a note,${row < 9},false`,
    );
    const headings = "E-Mail,Vorname,Handy,email_opt_in,Kundenwert,Notizen,double_opt_in,is_suppressed";
    const path = await table(headings, ...rows);

    const { code } = await runAlone([path]);

    expect(code).toBe(0);
    expect(await mapIn(path)).toMatchObject({
      columns: {
        "E-Mail": "email",
        Vorname: "first_name",
        Handy: "phone",
        Kundenwert: "property",
        Notizen: "property",
        double_opt_in: "double_opt_in",
        is_suppressed: "is_suppressed",
      },
    });
    expect(mock.organization("real").contacts).toHaveLength(15);
  });

  it("where its heading is a plain name of data, so that a file of few rows asks for its consent alone", async () => {
    service();
    const path = await table(
      "Contact ID,Name,Anrede,Email,Company,Job Title,Website,Language,IP Address,Newsletter",
      "1,Ada Byron,Frau,a@example.com,Analytical,Engineer,a.example,en,192.0.2.1,ja",
      "2,Bo Ek,Herr,b@example.com,Analytical,Clerk,b.example,sv,192.0.2.1,nein",
    );

    await runAlone([path]);

    expect(await openIn(path)).toEqual(["Newsletter"]);
  });

  it("and one without a cell is no part of the map yet", async () => {
    service();
    const path = await table("email,email_opt_in,Abgemeldet am", "a@example.com,SUBSCRIBED,");

    const first = await runAlone([path]);
    await writeFile(path, "email,email_opt_in,Abgemeldet am\na@example.com,SUBSCRIBED,2026-11-20\n");
    const second = await runAlone([path]);

    expect([first.code, second.code]).toEqual([0, 2]);
    expect(second.err).toContain('"Abgemeldet am"');
  });
});

describe("On a terminal", () => {
  it("each open question is asked with its words and people, and the answers are written to the map", async () => {
    const mock = service();
    const path = await table(
      "Email,Status,Stufe",
      "a@example.com,Active,gold",
      "b@example.com,Inactive,gold",
      "c@example.com,Active,",
    );

    const { code, out } = await runOnTerminal([path], ["1", "s", "u", "4", "y"]);

    expect(code).toBe(0);
    expect(out).toContain('"active": 2 rows');
    expect(out).toContain("Import 3 people?");
    expect(await mapIn(path)).toEqual({
      version: 1,
      columns: {
        Email: "email",
        Status: { consent: "email", words: { "": "none", active: "SUBSCRIBED", inactive: "UNSUBSCRIBED" } },
        Stufe: "property",
      },
    });
    expect(emailConsents(mock)).toEqual({
      "a@example.com": "SUBSCRIBED",
      "b@example.com": "UNSUBSCRIBED",
      "c@example.com": "SUBSCRIBED",
    });
  });

  it("a wrong key says what is possible, ? shows help, and < goes one step back, also to the column before", async () => {
    service();
    const path = await table(
      "Email,Status,Stufe",
      "a@example.com,Active,gold",
      "b@example.com,Inactive,gold",
    );

    const answers = ["<", "x", "?", "1", "z", "s", "<", "n", "u", "1", "<", "<", "-", "5", "n"];
    const { code, out } = await runOnTerminal([path], answers);

    expect(code).toBe(2);
    expect(out).toContain("This is the first question.");
    expect(out).toContain('"x" is no answer. Possible are 1 consent to e-mail, 2 consent to SMS');
    expect(out).toContain("A consent says whether people want messages");
    expect(out).toContain('"z" is no answer. Possible are s subscribed, n never subscribed');
    expect(await mapIn(path)).toMatchObject({
      columns: {
        Status: { consent: "email", words: { active: "NON_SUBSCRIBED", inactive: "none" } },
        Stufe: "ignore",
      },
    });
  });

  it("a consent to both channels has a meaning for each", async () => {
    const mock = service();
    const path = await table("Email,Phone,Kanal", "a@example.com,+447700900001,nur Mail");

    await runOnTerminal([path], ["3", "su", "y"]);

    expect(sentBodies(mock)).toEqual([
      {
        email: "a@example.com",
        phone: "+447700900001",
        email_opt_in: "SUBSCRIBED",
        phone_opt_in: "UNSUBSCRIBED",
      },
    ]);
  });

  it.each([
    ["1", { email: "UNSUBSCRIBED" }, { "a@example.com": "UNSUBSCRIBED" }],
    ["3", { email: "UNSUBSCRIBED", phone: "UNSUBSCRIBED" }, { "a@example.com": "UNSUBSCRIBED" }],
  ])("a file of refusals is asked what it means: %s", async (answer, everyone, consents) => {
    const mock = service();
    const path = await csv(await temporaryFolder(), "opt-outs.csv", "email", "a@example.com");

    const { code } = await runOnTerminal([path, "--yes"], [answer]);

    expect(code).toBe(0);
    expect(await mapIn(path)).toMatchObject({ everyone });
    expect(emailConsents(mock)).toEqual(consents);
  });

  it("a column of addresses becomes a field by its name", async () => {
    service();
    const path = await csv(await temporaryFolder(), "people.csv", "Kontakt", "a@example.com");

    const { code } = await runOnTerminal([path, "--yes", "--consent", "NON_SUBSCRIBED"], ["email"]);

    expect(code).toBe(0);
    expect(await mapIn(path)).toMatchObject({ columns: { Kontakt: "email" } });
  });

  it("nothing is sent where the questions are not answered, and no map is written", async () => {
    const mock = service();
    const path = await table("email,Status", "a@example.com,Active");

    const { code, err } = await runOnTerminal([path], ["1"]);

    expect({ code, requests: mock.requests.length }).toEqual(stopped);
    expect(err).toBe("The questions were not answered. Nothing was sent.\n");
    await expect(access(`${path}.map.json`)).rejects.toThrow("ENOENT");
  });
});

describe("A file with its map", () => {
  const asked = { Email: "email", Newsletter: newsletter } as const;

  it.each([
    ["that looks like a state", "Gesperrt", "ja"],
    ["of a consent, whose words are known", "phone_opt_in", "UNSUBSCRIBED"],
  ])("is stopped by a new column %s, and its map is not changed", async (_what, heading, word) => {
    const lines = [`Email,Newsletter,${heading}`, `a@example.com,yes,${word}`, "b@example.com,yes,"];

    const { code, requests, err, path } = await imported(lines, asked);

    expect({ code, requests }).toEqual(stopped);
    expect(err).toContain(`"${heading}": "${word.toLowerCase()}" (1)`);
    expect(await mapIn(path)).toEqual({ version: 1, columns: asked });
  });

  it("is refused where a name stands in it twice, as only the last would count", async () => {
    const mock = service();
    const path = await table("Email,Newsletter", "a@example.com,no");
    const words = '{ "no": "UNSUBSCRIBED", "no": "SUBSCRIBED" }';
    const columns = `{ "Email": "email", "Newsletter": { "consent": "email", "words": ${words} } }`;
    await writeFile(`${path}.map.json`, `{ "version": 1, "columns": ${columns} }`);

    const { code, err } = await runAlone([path]);

    expect({ code, requests: mock.requests.length }).toEqual(stopped);
    expect(err).toContain("a column or a word is there twice");
  });

  it("is no reason to stop a night whose file has headings alone", async () => {
    expect((await imported(["Email,Newsletter"], asked)).code).toBe(0);
  });

  it("is stopped where a column of consent is missing, also beside another file that has it", async () => {
    const mock = service();
    const path = await table("Email,Newsletter,Abmeldung", "a@example.com,yes,no");
    const other = await csv(dirname(path), "other.csv", "Email,Newsletter,abmeldung", "b@example.com,yes,");
    await mapOf(path, { Email: "email", Newsletter: newsletter, Abmeldung: newsletter });

    const { code, err } = await runAlone([path, other, "--map", `${path}.map.json`]);

    expect({ code, requests: mock.requests.length }).toEqual(stopped);
    expect(err).toContain('other.csv: the column "Abmeldung"');
    expect(err).toContain('The file has "abmeldung"');
  });

  it("holds back the rows of a word that the map does not name, with the line to add", async () => {
    const { code, out, consents } = await imported(
      ["Email,Newsletter", "a@example.com,yes", "b@example.com,Paused", "B@example.com,yes"],
      { Email: "email", Newsletter: newsletter },
    );

    expect(code).toBe(1);
    expect(out).toContain('"paused": "hold"');
    expect(consents).toEqual({ "a@example.com": "SUBSCRIBED" });
  });

  it("is not imported while a word of it is a ?", async () => {
    const words = { ja: "?", nein: "UNSUBSCRIBED" } as const;
    const columns = { Email: "email", N: { consent: "email", words } } as const;

    const { code, requests } = await imported(["Email,N", "a@example.com,ja"], columns);

    expect({ code, requests }).toEqual(stopped);
  });

  it("has its words in any case, that of Turkish too", async () => {
    const left = ["İPTAL", "İptal", "IPTAL", "ıptal", "i\u0307ptal"];
    const readers = ["ONAYLI", "Onaylı", "Abonelik Var", "abonelık var"];
    const lines = [...left, ...readers].map((word, row) => `p${row}@example.com, ${word} `);
    const words = { iptal: "UNSUBSCRIBED", onaylı: "SUBSCRIBED", "ABONELİK VAR": "SUBSCRIBED" } as const;

    const { code, bodies } = await imported(["Email,Durum", ...lines], {
      Email: "email",
      Durum: { consent: "email", words },
    });

    expect(code).toBe(0);
    expect(bodies.map(({ email_opt_in }) => email_opt_in)).toEqual([
      ...left.map(() => "UNSUBSCRIBED"),
      ...readers.map(() => "SUBSCRIBED"),
    ]);
  });

  it("ends with another exit code than 0 for such a word, also where the person has refused elsewhere", async () => {
    const { code, out, bodies } = await imported(
      ["Email,Newsletter,SMS", "a@example.com,no,paused", "b@example.com,yes,no"],
      { Email: "email", Newsletter: newsletter, SMS: { consent: "phone", words: { no: "UNSUBSCRIBED" } } },
    );

    expect(code).toBe(1);
    expect(out).toContain("Rows are held back, as");
    expect(bodies).toEqual([
      { email: "a@example.com", email_opt_in: "UNSUBSCRIBED" },
      { email: "b@example.com", email_opt_in: "SUBSCRIBED", phone_opt_in: "UNSUBSCRIBED" },
    ]);
  });

  it("is answered by replacing each `?` of its skeleton, also where the column is no consent", async () => {
    const mock = service();
    const path = await table("Email,Newsletter,Stufe", "a@example.com,ja,gold", "b@example.com,nein,gold");
    await runAlone([path]);

    const text = await readFile(`${path}.map.json`, "utf8");
    expect(await mapIn(path)).toMatchObject({
      columns: { Newsletter: { consent: "?", words: { ja: "?", nein: "?" } } },
    });
    const answers = ["email", "SUBSCRIBED", "UNSUBSCRIBED", "property"];
    await writeFile(
      `${path}.map.json`,
      text.replaceAll('"?"', () => JSON.stringify(answers.shift() ?? "?")),
    );
    const { code, err } = await runAlone([path]);

    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(sentBodies(mock)).toEqual([
      { email: "a@example.com", email_opt_in: "SUBSCRIBED", custom_properties: { stufe: "gold" } },
      { email: "b@example.com", email_opt_in: "UNSUBSCRIBED", custom_properties: { stufe: "gold" } },
    ]);
  });

  it("may have a map of several files, but not of two that mean another consent of everybody", async () => {
    const mock = service();
    const folder = await temporaryFolder();
    const line = ["Email Address,LEID", "a@example.com,1"];
    const left = await csv(folder, "unsubscribed_1.csv", ...line);
    const args = [await csv(folder, "subscribed_1.csv", ...line), left, "--map", `${folder}/map.json`];

    const codes = [(await runAlone(args)).code, (await runAlone(args)).code];

    expect(codes).toEqual([0, 2]);
    expect(emailConsents(mock)).toEqual({ "a@example.com": "UNSUBSCRIBED" });
  });

  it.each([
    [
      "the words of both",
      ["Email,Opt", "a@example.com,ja", "b@example.com,ja"],
      ["Email,Opt", "c@example.com,nein", "d@example.com,nein"],
      { Opt: { consent: "?", words: { ja: "?", nein: "?" } } },
    ],
    [
      "a column that is data in one of them alone",
      ["Email,Stand", "a@example.com,ja", "b@example.com,nein"],
      ["Email,Stand", "c@example.com,1200", "d@example.com,1350.50"],
      { Stand: { consent: "?", words: { ja: "?", nein: "?" } } },
    ],
    [
      "further words of a column that is known exactly",
      ["Klaviyo ID,Email,SMS Marketing Consent", "1,a@example.com,perhaps"],
      ["Klaviyo ID,Email,SMS Marketing Consent", "2,b@example.com,later"],
      {
        "SMS Marketing Consent": {
          consent: "phone",
          words: expect.objectContaining({ perhaps: "?", later: "?" }) as object,
        },
      },
    ],
  ])("has as a skeleton in the map of several files %s", async (_what, one, other, expected) => {
    service();
    const folder = await temporaryFolder();
    const files = [await csv(folder, "a.csv", ...one), await csv(folder, "b.csv", ...other)];

    const { code } = await runAlone([...files, "--map", `${folder}/any.map.json`]);

    expect(code).toBe(2);
    expect((await mapIn(`${folder}/any`)).columns).toEqual(expect.objectContaining(expected));
  });

  it("may have the map of --map, and more columns than the file", async () => {
    const mock = service();
    const path = await table("Email,Newsletter,Tag,Tag", "a@example.com,yes,x,y");
    const other = path.replace("people.csv", "any");
    await mapOf(other, {
      Email: "email",
      Newsletter: newsletter,
      Tag: "ignore",
      "Tag (2)": "property:second_tag",
      Ort: "city",
    });

    const { code } = await runAlone([path, "--map", `${other}.map.json`]);

    expect(code).toBe(0);
    expect(sentBodies(mock)).toEqual([
      { email: "a@example.com", email_opt_in: "SUBSCRIBED", custom_properties: { second_tag: "y" } },
    ]);
  });
});
