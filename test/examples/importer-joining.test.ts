import { describe, expect, it } from "vitest";
import { imported, importedFiles } from "./importer-fixture.ts";

const bothAre = (one: string, other: string) => ({ "a@example.com": one, "b@example.com": other });

describe("An opt-out counts for the person", () => {
  const addresses = ["Email,Newsletter", "a@example.com,yes", "b@example.com,yes"];
  const numbers = [
    "Email,Phone,Newsletter",
    "a@example.com,+4791234567,yes",
    "b@example.com,+4791234568,yes",
  ];
  const mobiles = [
    "Email,Phone,Mobile,Newsletter",
    "a@example.com,+4730123456,+4791234567,yes",
    "b@example.com,+4730123457,+4791234568,yes",
  ];
  const [heading, first, second] = numbers as [string, string, string];
  const byNumber = ["Phone,Unsubscribed", "+4791234567,yes"];

  it.each([
    [
      "whose number is another's too, who comes first",
      [heading, "c@example.com,+4791234567,no", first, second],
      byNumber,
    ],
    ["by the number in another column", mobiles, byNumber],
    [
      "by the second number of the opt-out",
      numbers,
      ["Phone,Mobile,Unsubscribed", "+4730123456,+4791234567,yes"],
    ],
    [
      "by the second address of the opt-out",
      addresses,
      ["Email,Email 2,Unsubscribed", "c@example.com,A@example.com,yes"],
    ],
    [
      "by one of the further addresses of the opt-out",
      addresses,
      [
        "Record ID,Email,Additional email addresses,Lifecycle Stage,Unsubscribed from all email",
        "1,c@example.com,d@example.com;a@example.com,lead,true",
      ],
    ],
  ])("%s", async (_where, people, left) => {
    for (const files of [
      { "c.csv": people, "o.csv": left },
      { "o.csv": left, "c.csv": people },
    ])
      expect((await importedFiles(files)).consents).toMatchObject(bothAre("UNSUBSCRIBED", "SUBSCRIBED"));
  });

  it("of a number which others have beside it only by the number's own consent", async () => {
    const { bodies } = await imported([
      "Email,Phone,Company phone,SMS opt-in",
      "a@example.com,+4791234567,+4730123456,no",
      "b@example.com,+4791234568,+4730123456,yes",
      ",+4730123456,,yes",
    ]);

    expect(bodies.map(({ email, phone_opt_in }) => [email, phone_opt_in])).toEqual([
      [undefined, "UNSUBSCRIBED"],
      ["a@example.com", "UNSUBSCRIBED"],
      ["b@example.com", "SUBSCRIBED"],
    ]);
  });
});

it.each([
  [
    "whose number is in another column beside an unknown word",
    "Email,Phone,Newsletter,SMS opt-in,Mobile",
    ["c@example.com,+4730123456,yes,perhaps,+4791234567", "a@example.com,+4791234567,yes,yes,"],
  ],
  [
    "whose address is under the heading of another person, in a line that was cut",
    "Email,Owner email,Newsletter,SMS opt-in,City",
    ["c@example.com,a@example.com", "a@example.com,,yes,,"],
  ],
])("What nobody can read holds back the person %s", async (_who, headings, lines) => {
  const { code, consents } = await imported([headings, ...lines, "b@example.com,,yes,,"]);

  expect(code).toBe(1);
  expect(Object.keys(consents)).toEqual(["b@example.com"]);
});

describe("An opt-out reaches the further address or number under the heading", () => {
  it.each(["E-mail 2 Address", "E-Mail (privat)", "Zweite E-Mail", "billing_email"])(
    "%s",
    async (heading) => {
      const { consents } = await importedFiles({
        "n.csv": ["Email,Newsletter", "a@example.com,yes", "b@example.com,yes"],
        "c.csv": [`Email,${heading},Unsubscribed`, "c@example.com,A@example.com,yes"],
      });

      expect(consents).toMatchObject(bothAre("UNSUBSCRIBED", "SUBSCRIBED"));
    },
  );

  it.each([
    "Mobile Phone 2",
    "Phone 1 - Value",
    "Telefon geschäftlich",
    "Default Address Phone",
    "Teléfono móvil",
  ])("%s, of its row, and of other rows with the same number", async (heading) => {
    const written = "+47 912 34 567";
    const { bodies } = await importedFiles({
      "c.csv": [`Email,Phone,${heading},SMS opt-out`, `c@example.com,+4730123456,${written},yes`],
      "n.csv": ["Email,Phone,SMS opt-in", "a@example.com,+4791234567,yes", "b@example.com,+4791234568,yes"],
    });
    const other = await importedFiles({
      "d.csv": [
        `Email,Newsletter,${heading}`,
        `a@example.com,yes,${written}`,
        "b@example.com,yes,+4791234568",
      ],
      "o.csv": ["Phone,Do not contact", "+4791234567,yes"],
    });

    const ofPhones = Object.fromEntries(bodies.map(({ email, phone_opt_in }) => [email, phone_opt_in]));
    expect(ofPhones).toMatchObject(bothAre("UNSUBSCRIBED", "SUBSCRIBED"));
    expect(other.consents).toMatchObject(bothAre("UNSUBSCRIBED", "SUBSCRIBED"));
  });

  it.each([
    ["Owner email", "a@example.com"],
    ["Referred by (e-mail)", "a@example.com"],
    ["Assistant's Phone", "+4791234567"],
    ["Mobile app since", "2024-05-01"],
    ["Phone checked", "01.05.2024 12:00"],
  ])("but not one of another person, or a day: %s", async (heading, cell) => {
    const { consents } = await importedFiles({
      "n.csv": [
        "Email,Phone,Newsletter",
        "a@example.com,+4791234567,yes",
        "b@example.com,+4720240501,yes",
        "e@example.com,+4701052024,yes",
      ],
      "c.csv": [`Email,${heading},Unsubscribed`, `c@example.com,${cell},yes`],
    });

    expect(consents).toMatchObject({ ...bothAre("SUBSCRIBED", "SUBSCRIBED"), "e@example.com": "SUBSCRIBED" });
  });
});

describe("An opt-in by a telephone number", () => {
  const number = "+4791234567";
  it.each<[string, string[], string[]]>([
    [
      "without an address, for e-mail",
      ["Email,Phone,Newsletter", `a@example.com,${number},`, `b@example.com,${number},`, `,${number},yes`],
      [
        `a@example.com ${number} NON_SUBSCRIBED NON_SUBSCRIBED`,
        "b@example.com - NON_SUBSCRIBED NON_SUBSCRIBED",
      ],
    ],
    [
      "of another address, for the number",
      ["Email,Phone,Newsletter,SMS opt-in", `a@example.com,${number},no,`, `b@example.com,${number},yes,yes`],
      [`a@example.com ${number} UNSUBSCRIBED NON_SUBSCRIBED`, "b@example.com - SUBSCRIBED NON_SUBSCRIBED"],
    ],
    [
      "without an address, for the person's other numbers",
      ["Email,Phone,SMS opt-in", `a@example.com,${number},`, "a@example.com,+4791234568,", `,${number},yes`],
      [`a@example.com +4791234568 NON_SUBSCRIBED SUBSCRIBED`],
    ],
    [
      "whose address cannot be read, for the number",
      [
        "Email,Phone,Newsletter,SMS opt-in",
        `a@example.com,${number},yes,`,
        `"x@example.com, y@example.com",${number},yes,yes`,
      ],
      [`a@example.com ${number} SUBSCRIBED NON_SUBSCRIBED`],
    ],
  ])("is not that of everybody who has the number: one %s", async (_whose, lines, expected) => {
    const { mock } = await imported(lines);

    const stored = mock
      .organization("real")
      .contacts.flatMap(({ email, phone = "-", email_opt_in, phone_opt_in }) =>
        email === undefined ? [] : [[email, phone, email_opt_in, phone_opt_in].join(" ")],
      );
    expect(stored.toSorted()).toEqual(expected);
  });

  const other = "+4791234568";
  const sent = (phone: string, phone_opt_in?: string) => ({
    email: "a@example.com",
    email_opt_in: "SUBSCRIBED",
    phone,
    ...(phone_opt_in === undefined ? {} : { phone_opt_in }),
  });

  it.each<[string, string[], Record<string, unknown>[]]>([
    [
      "is no opt-in for the same person's other number",
      [`a@example.com,yes,${number},yes`, `a@example.com,yes,${other},`],
      [sent(number, "SUBSCRIBED"), sent(other)],
    ],
    [
      "counts in each row of the person with that number, also where the address is written in another case",
      [`A@example.com,yes,${number},`, `a@example.com,yes,${number},yes`, `a@example.com,yes,${other},`],
      [sent(number, "SUBSCRIBED"), sent(number, "SUBSCRIBED"), sent(other)],
    ],
    [
      "does not weaken a refusal of the person by another number",
      [`a@example.com,yes,${number},yes`, `a@example.com,yes,${other},no`],
      [sent(number, "UNSUBSCRIBED"), sent(other, "UNSUBSCRIBED")],
    ],
    [
      "is no opt-in where it stands beside an address that is never sent",
      [`x@,yes,${number},yes`, `a@example.com,yes,${number},`],
      [sent(number)],
    ],
  ])("%s", async (_, lines, bodies) => {
    const { mock } = await imported(["Email,Newsletter,Phone,SMS opt-in", ...lines]);

    expect(mock.requests.map(({ body }) => body)).toEqual(bodies);
  });

  it("is not sent for the number of the person in another file", async () => {
    const { out, mock } = await importedFiles({
      "a.csv": ["Email,Newsletter,SMS opt-in", "a@example.com,yes,yes"],
      "b.csv": ["Email,Newsletter,Phone", `a@example.com,yes,${number}`],
    });

    expect(out).toContain("a.csv, row 2: it has an opt-in without the phone, which is not sent.");
    expect(mock.requests.at(-1)?.body).toEqual(sent(number));
  });

  it.each(["x(at)example.com", "x @example.com", "x@"])(
    "is sent where an address that is never sent has the number too: %s",
    async (written) => {
      const lines = [`${written},${number},yes`, `a@example.com,${number},yes`];
      for (const rows of [lines, lines.toReversed()]) {
        const { bodies } = await imported(
          ["Email,Phone,SMS opt-in", ...rows],
          undefined,
          "--consent",
          "keep",
        );

        expect(bodies).toEqual([{ email: "a@example.com", phone: number, phone_opt_in: "SUBSCRIBED" }]);
      }
    },
  );
});

describe("Rows with the same external id are about one person, whose strictest word counts", () => {
  const flags = { consent: "email", words: { ja: "SUBSCRIBED", nein: "UNSUBSCRIBED" } } as const;
  const columns = { "Customer ID": "external_id", Email: "email", Phone: "phone", N: flags } as const;
  const lines = ["1001,a@example.com,,ja", "1002,b@example.com,,ja"];
  const importedRows = async (...rows: string[]) =>
    (await imported(["Customer ID,Email,Phone,N", ...rows], columns)).consents;

  it.each([
    ["without an address", "1001,,,nein", "UNSUBSCRIBED"],
    ["with another address", "1001,c@example.com,,nein", "UNSUBSCRIBED"],
    ["with an address that cannot be read", "1001,c@@example.com,,nein", "UNSUBSCRIBED"],
    ["with a number", "1001,,+4791234567,nein", "UNSUBSCRIBED"],
    ["with a word that the map does not name", "1001,,,perhaps", undefined],
  ])("%s", async (_how, line, expected) => {
    for (const rows of [
      [...lines, line],
      [line, ...lines],
    ]) {
      const { "a@example.com": a, "b@example.com": b } = await importedRows(...rows);

      expect({ a, b }).toEqual({ a: expected, b: "SUBSCRIBED" });
    }
  });

  it("but an id that more than five addresses have is nobody's", async () => {
    const guests = ["a", "e", "f", "g", "h"].map((name) => `guest,${name}@example.com,,ja`);

    const consents = await importedRows(...guests, "guest,b@example.com,,nein");

    expect(consents).toMatchObject({ "a@example.com": "SUBSCRIBED", "b@example.com": "UNSUBSCRIBED" });
  });

  it.each(["0", "-", "N/A", "000"])("but what stands for no id is nobody's: %s", async (id) => {
    const consents = await importedRows(`${id},a@example.com,,ja`, `${id},c@example.com,,nein`);

    expect(consents).toEqual({ "a@example.com": "SUBSCRIBED", "c@example.com": "UNSUBSCRIBED" });
  });
});
