import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ColumnRule } from "../../examples/exports/column-map.ts";
import {
  type Columns,
  emailConsents,
  imported,
  importedFiles,
  runAlone,
  stopped,
  temporaryFolder,
} from "./importer-fixture.ts";

const both: ColumnRule = { consent: "both", words: { on: "SUBSCRIBED", off: "UNSUBSCRIBED" } };

describe("An opt-out by a telephone number without its country", () => {
  it.each([
    "0171 1234567",
    "8 171 123-45-67",
    "491711234567",
    "0171 1234567 / 0171 7654321",
    "+0171 1234567",
    "1234567",
    "4.91711E+11",
  ])("names nobody, and stops the files: %s", async (written) => {
    const { code, requests, err } = await importedFiles({
      "crm.csv": ["Email,Phone,SMS opt-in", "ada@example.com,+491711234567,yes"],
      "stop.csv": ["Phone,Zip,SMS opt-in", `${written},1234567,no`],
    });

    expect({ code, requests }).toEqual(stopped);
    expect(err).toContain("1 row holds a refusal, and no readable address, or number without an address");
    expect(err).not.toContain("required");
  });

  it("beside an address is sent with the address, and the person's other rows with it", async () => {
    const { code, bodies } = await imported([
      "Email,Phone,Newsletter,SMS opt-in",
      "a@example.com,91234567,yes,no",
      "a@example.com,+4791234567,yes,yes",
    ]);

    expect(code).toBe(0);
    const consents = { email_opt_in: "SUBSCRIBED", phone_opt_in: "UNSUBSCRIBED" };
    expect(new Set(bodies)).toEqual(
      new Set([
        { email: "a@example.com", ...consents, custom_properties: { phone: "91234567" } },
        { email: "a@example.com", phone: "+4791234567", ...consents },
      ]),
    );
  });
});

describe("A refusal of everything by a number alone", () => {
  const stop = ["Phone,Status", "+491711234567,do not contact"];
  const crm = ["Email,Phone,Status", "ada@example.com,0171 1234567,subscribed", "bo@example.com,,subscribed"];

  it.each([
    ["before", { "stop.csv": stop, "crm.csv": crm }],
    ["behind", { "crm.csv": crm, "stop.csv": stop }],
  ])("holds back whose number is the same without its country, %s the refusal", async (_order, files) => {
    const { code, out, consents } = await importedFiles(files);

    expect(code).toBe(1);
    expect(out).toContain("crm.csv, row 2: email consent: is held back: another row about this person");
    expect(consents).not.toHaveProperty(["ada@example.com"]);
    expect(consents).toMatchObject({ "bo@example.com": "SUBSCRIBED" });
  });
});

describe("Two ways to write one e-mail address are one person", () => {
  it.each([
    ["composed and decomposed letters", "j\u00f6rg@example.com", "jo\u0308rg@example.com"],
    ["a domain in Unicode and in ASCII", "a@m\u00fcller.example", "a@xn--mller-kva.example"],
    ["a domain with decomposed letters and in ASCII", "a@mu\u0308ller.example", "a@XN--MLLER-KVA.example"],
  ])("%s: the strictest consent counts, and each row is sent as it is written", async (_how, one, other) => {
    for (const [first, second] of [
      [one, other],
      [other, one],
    ] as const) {
      const { code, bodies } = await imported(["Email,Status", `${first},subscribed`, `${second},pending`]);

      expect(code).toBe(0);
      expect(new Set(bodies.map(({ email, email_opt_in }) => [email, email_opt_in].join()))).toEqual(
        new Set([one, other].map((email) => `${email.toLowerCase()},NON_SUBSCRIBED`)),
      );
    }
  });
});

describe("The heading of the numbers", () => {
  const known = [
    "Person - Phone - Work",
    "Person - Phone",
    "Phone - mobile",
    "Phone - home",
    "Mobile (private)",
  ];
  it.each([...known, "電話番号", "Телефон", "电话", "Telefone", "Puhelinnumero"])(
    "is known: %s",
    async (heading) => {
      const { bodies } = await imported([`Email,SMS opt-in,${heading}`, "a@example.com,yes,+48600100200"]);

      expect(bodies).toEqual([{ email: "a@example.com", phone: "+48600100200", phone_opt_in: "SUBSCRIBED" }]);
    },
  );

  it.each(["Phone type", "Phone - Owner", "Work phone extension", "Mobile app"])(
    "is none that is about something else: %s",
    async (heading) => {
      const { bodies } = await imported([`Email,Newsletter,${heading}`, "a@example.com,yes,+48600100200"]);

      expect(bodies).toMatchObject([{ custom_properties: {} }]);
    },
  );
});

it("A number of Brevo is one without its plus", async () => {
  const lines = ["EMAIL,SMS,EMAIL_BLACKLISTED,SMS_BLACKLISTED", "a@example.com,48600100200,No,Yes"];

  const { bodies } = await imported(lines);

  expect(bodies).toMatchObject([{ phone: "+48600100200", phone_opt_in: "UNSUBSCRIBED" }]);
});

it.each([
  "Adres e-mail",
  "Mailadres",
  "Endereço de e-mail",
  "Dirección de correo",
  "Adresse de messagerie",
  "Sähköposti",
  "Email-адрес",
  "Email (primary)",
  "Person - Email - Work",
  "E-mail 1 - Value",
  "Subscriber",
])(
  "The heading of the addresses is known, so that an opt-in without a channel is not one of the number: %s",
  async (heading) => {
    const { code, bodies } = await imported([`${heading};Telefon;Opt-in`, "a@example.com;+48600100200;yes"]);

    expect(code).toBe(0);
    expect(bodies).toEqual([{ email: "a@example.com", phone: "+48600100200", email_opt_in: "SUBSCRIBED" }]);
  },
);

it.each([
  [["ada@example.com;ja", "bo@example.com;nein"], "its first row holds an e-mail address"],
  [["a,b", "1,2"], "no column identifies the person of a row. Its headings begin with a, b; one must be"],
])("A file whose headings name no person is refused: %j", async (lines, message) => {
  const { code, err, mock } = await imported(lines);

  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) });
  expect(mock.requests).toEqual([]);
});

describe("A whole international number under an unknown heading", () => {
  it.each([
    ["Телефон", "+49 171 1234567", "property"],
    ["電話", "+49 171 1234567", "ignore"],
    ["Rufnr.", "(+49) 171-1234567", "property"],
    ["Номер", "'+491711234567", "property"],
    ["Numer", "+49 171 1234567; +49 30 123456", "property"],
  ] as const)(
    "identifies the person, in a row with an address and in one without: %s",
    async (heading, written, rule) => {
      const rows = [`ada@example.com,"${written}",on`, `,"${written}",off`];
      for (const lines of [rows, rows.toReversed()]) {
        const { consents } = await imported([`Email,${heading},Newsletter`, ...lines, "bo@example.com,,on"], {
          Email: "email",
          [heading]: rule,
          Newsletter: both,
        });

        expect(consents).toEqual({
          "ada@example.com": "UNSUBSCRIBED",
          "bo@example.com": "SUBSCRIBED",
        });
      }
    },
  );
});

describe("A refusal of a number with its country beside other text counts for that number", () => {
  const columns: Columns = { Email: "email", Phone: "phone", Newsletter: both };
  const [headings, ...people] = [
    "Email,Phone,Newsletter",
    "a@example.com,+491711234567,on",
    "b@example.com,+491711234568,on",
  ] as const;
  const importedWith = async (...rows: string[]) => await imported([headings, ...rows], columns);

  it.each([
    "tel:+491711234567",
    "p:+491711234567",
    "=+491711234567",
    "+49 171/1234567",
    "+49 (0)171/1234567",
    "+491711234567 (privat)",
    "+49 171 1234567 (2) 2024",
    "Mobil: +49-171-1234567 / 0171 7654321",
    "WhatsApp:00491711234567",
    "0049 30 123456 0049 171 1234567",
    "Büro ＋４９ 30 123456 +49 171 1234567",
    "\u200etel: ٠٠٤٩ ١٧١ ١٢٣٤٥٦٧",
  ])("%s", async (written) => {
    for (const [who, email_opt_in] of [
      ["c@example.com", "SUBSCRIBED"],
      ["", "UNSUBSCRIBED"],
    ] as const)
      for (const rows of [
        [...people, `${who},"${written}",off`],
        [`${who},"${written}",off`, ...people],
      ]) {
        const { bodies } = await importedWith(...rows);

        expect(bodies.slice(0, 2)).toMatchObject([
          { email: "a@example.com", email_opt_in, phone_opt_in: "UNSUBSCRIBED" },
          { email: "b@example.com", phone_opt_in: "SUBSCRIBED" },
        ]);
      }
  });

  it("in a column of notes too, and the person of that row is refused with the number", async () => {
    const rows = ['a@example.com,,on,"call +49 171 1234567, not before 10:00"', ",+491711234567,off,"];

    const { consents } = await imported([`${headings},Notes`, ...rows], { ...columns, Notes: "ignore" });

    expect(consents).toMatchObject({ "a@example.com": "UNSUBSCRIBED" });
  });

  it("but as another number for nobody", async () => {
    const { code, bodies } = await importedWith(...people, "c@example.com,+49 171 123456 78 (privat),off");

    expect(code).toBe(0);
    expect(bodies[0]).toMatchObject({ email: "a@example.com", phone_opt_in: "SUBSCRIBED" });
  });

  it.each(["0171 1234567", "tel:491711234567", "+0171 1234567 (privat)"])(
    "and without its country it holds back whose number it may be: %s",
    async (written) => {
      const refused = `c@example.com,${written},off`;
      for (const rows of [
        [...people, refused],
        [refused, ...people],
      ]) {
        const { code, out, consents } = await importedWith(...rows);

        expect(code).toBe(1);
        expect(out).toContain("phone consent: is held back: another row about this person");
        expect(consents).toEqual({ "b@example.com": "SUBSCRIBED", "c@example.com": "UNSUBSCRIBED" });
      }
    },
  );

  it("also where the report of a row is corrected, and its number gets its country", async () => {
    const folder = await temporaryFolder();
    const report = join(folder, "people.csv");
    const rows = ["c@example.com,0171 1234567,off", ",0171-1234567,on"];
    const { path, mock } = await importedFiles({ "people.csv": [headings, ...rows] }, columns);
    await runAlone([path, "--report", folder]);
    await writeFile(report, (await readFile(report, "utf8")).replace("0171-", "+49171"));

    const { code, out } = await runAlone([report]);

    expect({ code, contacts: emailConsents(mock) }).toEqual({
      code: 1,
      contacts: { "c@example.com": "UNSUBSCRIBED" },
    });
    expect(out).toContain("phone consent: is held back: another row about this person");
  });
});
