import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseEmail, parsePhone } from "../../examples/exports/contact-values.ts";
import { openCsv } from "../../examples/exports/csv-file.ts";
import type { CsvRow } from "../../examples/exports/csv-file.ts";
import { temporaryFolder } from "./importer-fixture.ts";

async function writeCsv(content: string | Uint8Array): Promise<string> {
  const path = join(await temporaryFolder(), "file.csv");
  await writeFile(path, content);
  return path;
}

async function read(path: string, encoding?: string) {
  const file = await openCsv(path, { encoding });
  const rows: CsvRow[] = [];
  for await (const row of file.rows()) rows.push(row);
  return { ...file, rows };
}

describe("a telephone number", () => {
  it.each([
    ["+44 20 7946 0018", "+442079460018"],
    ["0044 7700 900142", "+447700900142"],
    ["+49 (0)30 23125 017", "+493023125017"],
    ["'+44 7700 900218", "+447700900218"],
    ["＋353 20 915 0077", "+353209150077"],
    ["+٨٨٠ ١٧١١ ٢٣٤٥٦٧", "+8801711234567"],
    // Italian numbers keep the 0 in the international format.
    ["+39 (0)6 5550 1234", "+390655501234"],
    ["+44\u00a020\u20117946\u20110018", "+442079460018"],
  ])("%s is parsed as %s", (written, phone) => {
    expect(parsePhone(written)).toEqual({ value: phone });
  });

  it.each([
    ["020 7946 0958", "does not name its country"],
    ["4.42079E+11", "was rounded by a spreadsheet"],
    ["+1 646-555-0187 ext. 4", "more than one number, or other text"],
    ["+33 6 39 98 20 11 / +33 1 99 00 20 11", "more than one number, or other text"],
    ["call after six", "more than one number, or other text"],
    ["+0 20 7946 0018", "is not a number that any country has"],
  ])("%s is reported, not guessed", (written, problem) => {
    const reading = parsePhone(written);
    expect("problem" in reading ? reading.problem : reading.value).toContain(`${JSON.stringify(written)} `);
    expect("problem" in reading ? reading.problem : reading.value).toContain(problem);
  });
});

it.each([
  [" Ada@Example.com ", "ada@example.com"],
  ["\u200bada@example.com", "ada@example.com"],
  ["Ada Byron <ada@example.com>", "ada@example.com"],
  ["mailto:ada@example.com", "ada@example.com"],
  ["_a@example.com", "_a@example.com"],
  ["b&b@example.com", "b&b@example.com"],
  ["d+tag@sub.example-shop.co.uk", "d+tag@sub.example-shop.co.uk"],
  ["o'brien@example.com", "o'brien@example.com"],
  ["x-@example.com", "x-@example.com"],
  ["ä@müller.example", "ä@müller.example"],
])("an e-mail address: %j is parsed as %s", (written, value) => {
  expect(parseEmail(written)).toEqual({ value });
});

describe("a CSV file", () => {
  it("is parsed with a byte-order mark, CRLF, quotes and line breaks in cells; rows are numbered as in a spreadsheet", async () => {
    const path = await writeCsv(
      '\ufeffEmail,Note\r\na@example.com,"one\ntwo, ""three"""\r\n\r\nb@example.com,\r\n',
    );
    const { headings, rows } = await read(path);
    expect(headings).toEqual(["Email", "Note"]);
    expect(rows.map((row) => [row.number, row.cell(0), row.cell(1)])).toEqual([
      [2, "a@example.com", 'one\ntwo, "three"'],
      [4, "b@example.com", undefined],
    ]);
  });

  const names = "E-Mail;Name\nada@example.com;Renée\n";
  const utf16 = (endian: "le" | "be", mark: string) => {
    const bytes = Buffer.from(mark + names, "utf16le");
    return endian === "le" ? bytes : bytes.swap16();
  };

  it.each([
    ["UTF-8", Buffer.from(names), undefined],
    ["UTF-8 with a byte-order mark", Buffer.from(`\ufeff${names}`), undefined],
    ["UTF-16 with a byte-order mark", utf16("le", "\ufeff"), undefined],
    ["UTF-16 of the other byte order", utf16("be", "\ufeff"), undefined],
    ["UTF-16 without a mark", utf16("le", ""), undefined],
    ["UTF-16 of the other byte order without a mark", utf16("be", ""), undefined],
    ["Windows-1252, where the option names it", Buffer.from(names, "latin1"), "windows-1252"],
    ["UTF-8 without a mark, with any option", Buffer.from(names), "windows-1252"],
    ["UTF-8 with a mark, with any option", Buffer.from(`\ufeff${names}`), "windows-1252"],
  ])("in %s is parsed", async (_name, bytes, encoding) => {
    const { headings, rows } = await read(await writeCsv(bytes), encoding);

    expect(headings).toEqual(["E-Mail", "Name"]);
    expect(rows[0]?.cells).toEqual(["ada@example.com", "Renée"]);
  });

  it.each([
    [",", "Email,Note\na@example.com,x\n", ["Email", "Note"]],
    [";", "Email;Address\na@example.com;Street 1, Town\n", ["Email", "Address"]],
    ["\t", "Email\tNote\na@example.com\tone, two; three\n", ["Email", "Note"]],
    [";", 'Email;"Name; first, last"\na@example.com;x\n', ["Email", "Name; first, last"]],
    [";", "sep=;\r\nEmail;Note\r\na@example.com;x\r\n", ["Email", "Note"]],
    [";", '"Email";"Note"\na@example.com;"a; ""b"",\nc"\nb@example.com;x\n', ["Email", "Note"]],
    [";", "E-Mail;Name, Vorname\na@example.com;Doe, John\n", ["E-Mail", "Name, Vorname"]],
    [";", "E-Mail;Name, Vorname, Titel\na@example.com;Doe, John, Dr\n", ["E-Mail", "Name, Vorname, Titel"]],
    [";", "sep=;\nTel;Name, Vorname\n+491711234567;Doe, John\n", ["Tel", "Name, Vorname"]],
    [";", "Email;Note\na@example.com;x;y\n", ["Email", "Note"]],
    [",", "Email,Name", ["Email", "Name"]],
  ])("with %j between cells is recognized by its rows: %j", async (delimiter, text, headings) => {
    expect(await read(await writeCsv(text))).toMatchObject({ delimiter, headings });
  });

  it("has a misshapen row where a cell is behind the last heading, blank or not", async () => {
    const { rows } = await read(
      await writeCsv("Email,Note\na@example.com,x\na@example.com,x, \nb@example.com,x,y\n"),
    );
    const behind = "has 3 cells, but there are 2 headings";
    expect(rows.map(({ shapeIssue }) => shapeIssue?.message)).toEqual([
      undefined,
      `${behind}; if every line ends with a separator, the first one needs it too`,
      behind,
    ]);
  });

  it.each([
    [Uint8Array.of(0x45, 0x6d, 0x0a, 0xe9, 0x0a), "is not UTF-8 text"],
    ['Email\n"a@example.com\n', "file.csv"],
    ['Email,Note\na@example.com,a "b" c\n', "in row 2, value is"],
    [
      `Email,Note\na@example.com,\nb@example.com,"x\n${"c@example.com,\n".repeat(500)}`,
      "an opening quote in row 3.",
    ],
    [`Email,Note\nb@example.com,"x\n${"c@example.com,\n".repeat(80_000)}`, "in row 2."],
    ['Email,Note\na@example.com,"a"b\n', "Invalid Closing Quote"],
    ["", "is empty"],
    ['{"email":"a@example.com"}\n', "is JSON, and only CSV is read"],
    ['\ufeff[\n  { "email": "a@example.com" }\n]', "is JSON, and only CSV is read"],
    ['sep=,\nEmail,Note\n\na@example.com,"x\nb@example.com,\n', "an opening quote in row 3."],
    ["PK\u0003\u0004", "is a workbook or an archive"],
    [Uint8Array.of(0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1), "is a workbook or an archive"],
  ])("%j is refused: %s", async (text, message) => {
    await expect(read(await writeCsv(text))).rejects.toThrow(message);
  });
});
