import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { parseConsent } from "../../examples/exports/consent-cells.ts";
import { consentColumn } from "../../examples/exports/consent-columns.ts";
import { parseDay, parseEmail } from "../../examples/exports/contact-values.ts";
import { openCsv } from "../../examples/exports/csv-file.ts";
import type { CsvRow } from "../../examples/exports/csv-row.ts";
import { parsePhone } from "../../examples/exports/phone.ts";

async function writeCsv(content: string | Uint8Array): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "exports-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "file.csv");
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
    ["+1 (212) 555-0123", "+12125550123"],
    ["+1.212.555.0123", "+12125550123"],
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
    ["(213) 555-0199", "does not name its country"],
    ["2125550171", "does not name its country"],
    ["4.42079E+11", "was rounded by a spreadsheet"],
    ["4,42079E+11", "was rounded by a spreadsheet"],
    ["+1 646-555-0187 ext. 4", "more than one number, or other text"],
    ["+33 6 39 98 20 11 / +33 1 99 00 20 11", "more than one number, or other text"],
    ["+33639982011 +33199002011", "more than one number, or other text"],
    ["call after six", "more than one number, or other text"],
    ["+44", "is not a number that any country has"],
    ["+0 20 7946 0018", "is not a number that any country has"],
  ])("%s is reported, not guessed", (written, problem) => {
    const reading = parsePhone(written);
    expect("problem" in reading ? reading.problem : reading.value).toContain(`${JSON.stringify(written)} `);
    expect("problem" in reading ? reading.problem : reading.value).toContain(problem);
  });
});

describe("an e-mail address", () => {
  it.each([
    [" Ada@Example.com ", "ada@example.com"],
    ["\u200bada@example.com", "ada@example.com"],
    ["Ada Byron <ada@example.com>", "ada@example.com"],
    ["mailto:ada@example.com", "ada@example.com"],
  ])("%j is parsed as %s", (written, value) => {
    expect(parseEmail(written)).toEqual({ value });
  });

  it.each(["a@example.com;b@example.com", "a@example.com, b@example.com", "a@b@example.com"])(
    "%s is reported, because it contains several",
    (written) => {
      expect(parseEmail(written)).toEqual({ problem: expect.stringContaining("must be one e-mail address") });
    },
  );
});

describe("a day", () => {
  it.each([
    ["1988-05-17", "1988-05-17"],
    ["1988-05-17 00:00:00", "1988-05-17"],
    ["17.5.1988", "1988-05-17"],
    // Ambiguous, so it is left to the schema, which refuses it.
    ["05/07/1988", "05/07/1988"],
  ])("%s is parsed as %s", (written, day) => {
    expect(parseDay(written)).toBe(day);
  });
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

  it("in another encoding than UTF-8 is refused, because names would be corrupted", async () => {
    const path = await writeCsv(Uint8Array.of(0x45, 0x6d, 0x0a, 0xe9, 0x0a));
    await expect(read(path)).rejects.toThrow("is not UTF-8 text");
  });

  it("with a quote that is never closed is refused with the file's name", async () => {
    const path = await writeCsv('Email\n"a@example.com\n');
    await expect(read(path)).rejects.toThrow("file.csv");
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
    ["comma", "Email,Note\na@example.com,x\n", ["Email", "Note"]],
    ["semicolon", "Email;Address\na@example.com;Street 1, Town\n", ["Email", "Address"]],
    ["tab", "Email\tNote\na@example.com\tone, two; three\n", ["Email", "Note"]],
    ["semicolon", 'Email;"Name; first, last"\na@example.com;x\n', ["Email", "Name; first, last"]],
    ["semicolon", "sep=;\r\nEmail;Note\r\na@example.com;x\r\n", ["Email", "Note"]],
    ["semicolon", '"Email";"Note"\na@example.com;"a; ""b"",\nc"\nb@example.com;x\n', ["Email", "Note"]],
    ["comma", "Email\na@example.com\n", ["Email"]],
    ["comma", "Email,Name", ["Email", "Name"]],
  ])("with a %s between cells is recognized by its rows: %j", async (delimiterName, text, headings) => {
    expect(await read(await writeCsv(text))).toMatchObject({ delimiterName, headings });
  });

  it("whose sample for the delimiter ends inside a cell is parsed completely", async () => {
    const long = `"${"line, of; a note\n".repeat(10_000)}"`;
    const { delimiterName, rows } = await read(
      await writeCsv(`Email;Note\na@example.com;x\nb@example.com;${long}\n`),
    );
    expect([delimiterName, rows.length]).toEqual(["semicolon", 2]);
  });

  it("with another line end in each row is parsed", async () => {
    const { rows } = await read(await writeCsv("Email,Note\r\na@example.com,1\nb@example.com,2\r\n"));
    expect(rows.map(({ cells }) => cells)).toEqual([
      ["a@example.com", "1"],
      ["b@example.com", "2"],
    ]);
  });

  it("with blank cells after the last heading has a complete row", async () => {
    const { rows } = await read(await writeCsv("Email,Note\na@example.com,x,, \nb@example.com,x,y\n"));
    expect(rows.map((row) => row.shapeIssues().length)).toEqual([0, 1]);
  });

  it.each([
    ['Email,Note\na@example.com,a "b" c\n', "line 2: a quotation mark is inside a cell"],
    ['Email,Note\na@example.com,"a"b\n', "text follows a cell's closing quotation mark"],
    ["", "is empty"],
    ["PK\u0003\u0004", "is a workbook or an archive"],
  ])("%j is refused: %s", async (text, message) => {
    await expect(read(await writeCsv(text))).rejects.toThrow(message);
  });
});

describe("A column that resembles a consent", () => {
  it.each([
    ["email_opt_in", "opt-in", ["email"]],
    ["Status", "status", ["email"]],
    ["E-Mail Status", "status", ["email"]],
    ["Email Marketing Consent", "opt-in", ["email"]],
    ["SMS Marketing Consent", "opt-in", ["phone"]],
    ["smsOptIn", "opt-in", ["phone"]],
    ["Accepts Email Marketing", "opt-in", ["email"]],
    ["Accepts SMS Marketing", "opt-in", ["phone"]],
    ["Email & SMS consent", "opt-in", ["email", "phone"]],
    ["Newsletter", "opt-in", ["email"]],
    ["GDPR marketing consent", "opt-in", ["email"]],
    ["Unsubscribed from all email", "opt-out", ["email"]],
    ["Opted out of email: Marketing Information", "opt-out", ["email"]],
    ["hs_email_optout", "opt-out", ["email"]],
    ["EMAIL_BLACKLISTED", "opt-out", ["email"]],
    ["SMS_BLACKLISTED", "opt-out", ["phone"]],
    ["Unsubscribed", "opt-out", ["email", "phone"]],
    ["Unsubscribed from newsletter", "opt-out", ["email"]],
    ["Marketing consent opt-out", "opt-out", ["email", "phone"]],
    ["Subscriber opted out", "opt-out", ["email", "phone"]],
    ["Do Not Text", "opt-out", ["phone"]],
    ["Do Not Call", "opt-out", ["phone"]],
    ["HasOptedOutOfEmail", "opt-out", ["email"]],
    ["No newsletter", "opt-out", ["email"]],
    ["Agrees to receive e-mails", "opt-in", ["email"]],
    ["Do Not Contact", "opt-out", ["email", "phone"]],
    ["Contact declined", "opt-out", ["email", "phone"]],
    ["E-Mail allowed", "opt-in", ["email"]],
    ["do_not_email", "opt-out", ["email"]],
    ["Unsubscribed at", "left", ["email", "phone"]],
    ["Date of unsubscription", "left", ["email", "phone"]],
    ["UNSUB_TIME", "left", ["email", "phone"]],
    ["Opt-out reason", "left", ["email", "phone"]],
    ["Never subscribed", "not subscribed", ["email"]],
    ["Email Suppressions", "undeliverable", ["email"]],
    ["Email hard bounce reason", "undeliverable", ["email"]],
    ["Spam complaint", "complaint", ["email"]],
    ["GDPR consent", "refusal only", ["email", "phone"]],
    ["Consent to data processing", "refusal only", ["email", "phone"]],
    ["No emails", "opt-out", ["email"]],
    ["Never contact", "opt-out", ["email", "phone"]],
    ["Invalid email address", "undeliverable", ["email"]],
    ["OK to email", "opt-in", ["email"]],
    ["Promotional SMS", "opt-in", ["phone"]],
    ["Marketing email confirmation status", "confirmation", ["email"]],
    ["WhatsApp opt-in", "refusal only", ["phone"]],
    ["Double opt-in", "confirmation", ["email"]],
    ["Opt-in/opt-out", "state", ["email"]],
    ["Opt in/out", "state", ["email"]],
    ["Kein Newsletter", "opt-out", ["email"]],
    ["Newsletter abbestellt", "opt-out", ["email"]],
    ["Permission denied", "opt-out", ["email", "phone"]],
    ["Consent rejected", "opt-out", ["email", "phone"]],
    ["Einwilligung widerrufen", "opt-out", ["email", "phone"]],
    ["Abgemeldet am", "left", ["email", "phone"]],
    ["Photo consent", "other", ["email"]],
    ["Adopted", "other", ["email"]],
    ["Newsletter sent", "other", ["email"]],
    ["Accepts returns", "other", ["email"]],
    ["Not unsubscribed", "state", ["email"]],
    // "O" may be "out", or the French "oui".
    ["Opt", "state", ["email"]],
    ["Nyhedsbrev", "opt-in", ["email"]],
    ["SMS-samtykke", "opt-in", ["phone"]],
    ["Tilmeldt", "opt-in", ["email"]],
    ["Afmeldt", "opt-out", ["email", "phone"]],
    ["Frameldt nyhedsbrev", "opt-out", ["email"]],
    ["Nyhetsbrev", "opt-in", ["email"]],
    ["Samtycke", "opt-in", ["email"]],
    ["Avregistrerad", "opt-out", ["email", "phone"]],
    ["Abonné à la newsletter", "opt-in", ["email"]],
    ["Consentement SMS", "opt-in", ["phone"]],
    ["Statut", "status", ["email"]],
    ["Désabonné le", "left", ["email", "phone"]],
    ["Newsletter erwünscht", "opt-in", ["email"]],
    ["Nieuwsbrief", "opt-in", ["email"]],
    ["Toestemming e-mail", "opt-in", ["email"]],
    ["Consenso marketing", "opt-in", ["email"]],
    ["Iscritto", "opt-in", ["email"]],
    ["Undeliverable", "undeliverable", ["email"]],
    ["Unzustellbar", "undeliverable", ["email"]],
    ["Removed", "opt-out", ["email", "phone"]],
    ["Don't Market", "opt-out", ["email", "phone"]],
    ["Don’t email", "opt-out", ["email"]],
    ["Gesperrt", "opt-out", ["email", "phone"]],
    ["Sperrliste", "opt-out", ["email", "phone"]],
    ["Sperrvermerk", "opt-out", ["email", "phone"]],
    ["Robinsonliste", "opt-out", ["email", "phone"]],
    ["Geblokkeerd", "opt-out", ["email", "phone"]],
    ["Blockerad", "opt-out", ["email", "phone"]],
    ["Blokeret", "opt-out", ["email", "phone"]],
    ["Bloqué", "opt-out", ["email", "phone"]],
    ["Bloqueado", "opt-out", ["email", "phone"]],
    ["Bloccato", "opt-out", ["email", "phone"]],
    ["Removed from list", "opt-out", ["email", "phone"]],
    ["Left list", "opt-out", ["email", "phone"]],
    ["Revoked", "opt-out", ["email", "phone"]],
    ["Objection", "opt-out", ["email", "phone"]],
    ["Left mailing list", "opt-out", ["email"]],
    ["Objection date", "left", ["email", "phone"]],
    ["Werbung erlaubt", "opt-in", ["email"]],
    ["Keine E-Mails", "opt-out", ["email"]],
    ["Nicht kontaktieren", "opt-out", ["email", "phone"]],
    ["Må ikke kontaktes", "opt-out", ["email", "phone"]],
    ["Ne pas contacter", "opt-out", ["email", "phone"]],
    ["Stop SMS", "opt-out", ["phone"]],
    ["Email stop", "opt-out", ["email"]],
    ["Confirmed", "confirmation", ["email"]],
    ["E-Mail bestätigt", "confirmation", ["email"]],
  ])("%s", (heading, question, channels) => {
    expect(consentColumn(heading)).toMatchObject({ question, channels });
  });

  it.each([
    "First name",
    "Options",
    "Shipping option",
    "Description",
    "Subscription plan",
    "OPTIN_TIME",
    "CONFIRM_IP",
    "Emails received",
    "No. of calls",
    "Total subscriptions",
    "Last modified by subscriber",
    "Preferred contact method",
    "Mailing city",
    "Date subscribed",
    "Año de suscripción",
    "Zustimmungsdatum",
    "Opt-in IP address",
    "Email Marketing Consent Timestamp",
    "Unsubscribe link",
    "Marketing contact status",
    "Cookie consent",
    "Consent to Track Email",
    "SMS Transactional Consent",
    "Soft bounces",
    "Werbungskosten",
    "Left",
    "Objective",
    "Days left",
    // A count of messages, no property of the address.
    "Marketing emails bounced",
    "State",
    "Company",
  ])("%s is no consent column", (heading) => {
    expect(consentColumn(heading)).toBeUndefined();
  });
});

describe("A consent value", () => {
  const subscribed = { optIn: "SUBSCRIBED" };
  const never = { optIn: "NON_SUBSCRIBED" };
  const left = { optIn: "UNSUBSCRIBED" };
  const suppressed = { optIn: "NON_SUBSCRIBED", isSuppressed: true };

  it.each([
    ...["yes", "Y", "TRUE", "1", "1.0", "x", "Ja", "oui", "Opted-in", "opted in", "SUBSCRIBED"].map(
      (word) => [word, subscribed] as const,
    ),
    // The stricter of the two meanings of "no".
    ...["no", "N", "false", "0", "nein", "nej", "nei"].map((word) => [word, left] as const),
    ...[
      "unsubscribed",
      "Opted out",
      "OPT-OUT",
      "Unsubscribed (by an admin)",
      "blacklisted",
      "complained",
      "désabonné",
      "Afmeldt",
      "abbestellt",
      "avregistrerad",
    ].map((word) => [word, left] as const),
    ...["never subscribed", "NEVER_SUBSCRIBED", "non-subscribed", "pending", "Unconfirmed"].map(
      (word) => [word, never] as const,
    ),
    ...["cleaned", "Hard bounced", "suppressed"].map((word) => [word, suppressed] as const),
    ...["", "n/a", "-", "unknown", "not opted out"].map((word) => [word, {}] as const),
    ...["active", "VIP", "yes please", "paused", "2"].map((word) => [word, "not understood"] as const),
  ])("in an opt-in column: %s", (word, expected) => {
    expect(parseConsent({ question: "opt-in" }, word)).toEqual(expected);
  });

  it.each([
    ...[
      "yes",
      "true",
      "1",
      "2024-03-01 10:00",
      "31.12.2024",
      "Mar 1, 2024",
      "1714557600",
      "unsubscribed",
    ].map((word) => [word, left] as const),
    // "Not opted out" is no opt-in.
    ...["no", "false", "0", "", "subscribed", "opted in"].map((word) => [word, {}] as const),
    ...["maybe", "all"].map((word) => [word, "not understood"] as const),
  ])("in an opt-out column: %s", (word, expected) => {
    expect(parseConsent({ question: "opt-out" }, word)).toEqual(expected);
  });

  it.each([
    ["['UNSUBSCRIBE']", { ...left, isSuppressed: true }],
    ["SPAM_COMPLAINT", { ...left, isSuppressed: true }],
    ["USER_SUPPRESSED", suppressed],
    ["550 no such user", suppressed],
    ["[]", {}],
    ["false", {}],
    ["0", {}],
  ])("of a suppression: %s", (word, expected) => {
    expect(parseConsent({ question: "undeliverable" }, word)).toEqual(expected);
  });

  it.each([
    ["refusal only", "yes", {}],
    ["refusal only", "no", left],
    ["confirmation", "yes", {}],
    ["confirmation", "no", never],
    ["confirmation", "2024-03-01", {}],
    // The date that MySQL writes for none.
    ["left", "0000-00-00 00:00:00", {}],
    ["opt-out", "0000-00-00", {}],
    ["confirmed", "yes", subscribed],
    ["confirmed", "2", never],
    ["not subscribed", "yes", never],
    ["not subscribed", "no", {}],
    ["left", "too many mails", left],
    ["complaint", "2025-01-01", { ...left, isSuppressed: true }],
    ["state", "yes", "not understood"],
    ["state", "opted in", subscribed],
    ["state", "opted out", left],
    ["other", "opted in", "not understood"],
    ["other", "no", "not understood"],
    ["other", "opted out", left],
    ["other", "pending", never],
    ["opt-in", "VIP, unsubscribed", left],
    ["status", "VIP; never subscribed", never],
  ] as const)("in a column that asks %s: %s", (question, word, expected) => {
    expect(parseConsent({ question }, word)).toEqual(expected);
  });
});
