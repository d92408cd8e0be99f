import { beforeEach, describe, expect, it } from "vitest";
import type { ColumnRule } from "../../examples/exports/column-map.ts";
import {
  csv as csvIn,
  emailConsents,
  mapOf,
  newsletter,
  run,
  runAlone,
  sentBodies,
  service,
  temporaryFolder,
} from "./importer-fixture.ts";

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});

const csv = (name: string, ...lines: string[]) => csvIn(folder, name, ...lines);

const everyConsent = [undefined, "keep", "SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED"].map((consent) =>
  consent === undefined ? [] : ["--consent", consent],
);

describe("An opt-out whose telephone number cannot be read", () => {
  const crm = [
    "Email,Phone,SMS opt-in",
    "ada@example.com,+491711234567,yes",
    "bo@example.com,+491711234568,yes",
  ];

  it.each(everyConsent.map((options) => [options]))(
    "stops everybody whose number has the same last digits, in any order of the files, with %j",
    async (options) => {
      const mock = await service();
      const people = await csv("crm.csv", ...crm);
      const stop = await csv("stop.csv", "Phone,SMS opt-in", "0171 1234567,no");

      for (const files of [
        [people, stop],
        [stop, people],
      ]) {
        const { code, out } = await run([...files, ...options]);
        expect(code).toBe(1);
        expect(out).toContain("crm.csv, row 2: row: stop.csv, row 2, may be about this person");
      }

      expect(new Set(sentBodies(mock).map(({ email }) => email))).toEqual(new Set(["bo@example.com"]));
    },
  );

  it.each([
    ["a trunk prefix", "01711234567"],
    ["a trunk prefix that is not 0", "8 171 123-45-67"],
    ["no prefix", "1711234567"],
    ["its country code, without the plus", "491711234567"],
    ["another prefix of international calls", "011 49 171 1234567"],
    ["a slash", "0171/1234567"],
    ["slashes and a short last part", "0171/123/4567"],
    ["another number", "0171 1234567 / 0171 7654321"],
    ["words", "0171 1234567 (mobile)"],
    ["a plus in the wrong place", "+0171 1234567"],
    ["no country and no area", "1234567"],
    ["the numbers of others before it", "765432 / 91234568 1711234567"],
    ["no country and no area, in a few digits", "4567"],
    ["no area, and an extension", "1234567 ext. 12"],
  ])("is compared where it is written with %s", async (_how, written) => {
    const mock = await service();

    await run([
      await csv("crm.csv", ...crm),
      await csv("stop.csv", "Email,Phone,SMS opt-in", `cy@example.com,${written},no`),
    ]);

    expect(emailConsents(mock)).not.toHaveProperty("ada@example.com");
    expect(emailConsents(mock)).toHaveProperty("bo@example.com");
  });

  it.each(["4.91711E+11", "4,91711235E+11"])(
    "stops everybody whose number would be rounded like it: %s",
    async (written) => {
      const mock = await service();

      await run([
        await csv("crm.csv", ...crm, "cy@example.com,+491721234567,yes"),
        await csv("stop.csv", "Phone,SMS opt-in", `"${written}",no`),
      ]);

      expect(Object.keys(emailConsents(mock))).toEqual(["cy@example.com"]);
    },
  );

  it("is compared without the 15 that Argentina writes inside a mobile number", async () => {
    const mock = await service();

    await run([
      await csv("crm.csv", ...crm, "cy@example.com,+5493517654321,yes"),
      await csv("stop.csv", "Phone,SMS opt-in", "0351 15-765-4321,no"),
    ]);

    expect(new Set(Object.keys(emailConsents(mock)))).toEqual(new Set(["ada@example.com", "bo@example.com"]));
  });

  it.each(["0171 1234567", "+491711234567", "1234567"])(
    "stops by its e-mail consent those whose own number cannot be read: %s",
    async (written) => {
      const mock = await service();
      const people = await csv(
        "crm.csv",
        "Email,Phone,Newsletter",
        "ada@example.com,0171 1234567,yes",
        "bo@example.com,0171 1234568,yes",
        "cy@example.com,0171 1234567,no",
      );

      await run([people, await csv("stop.csv", "Phone,Unsubscribed", `${written},yes`)]);

      expect(emailConsents(mock)).toMatchObject({
        "bo@example.com": "SUBSCRIBED",
        "cy@example.com": "UNSUBSCRIBED",
      });
      expect(emailConsents(mock)).not.toHaveProperty("ada@example.com");
    },
  );

  it("stops everybody in the same way where another number of its row, or of theirs, can be read", async () => {
    const mock = await service();

    await run([
      await csv("crm.csv", ...crm),
      await csv("old.csv", "Email,Phone,Mobile,Newsletter", "di@example.com,0171 1234569,+491721234569,yes"),
      await csv("stop.csv", "Email,Phone,Mobile,SMS opt-in", "cy@example.com,0171 1234567,+491721234567,no"),
      await csv("left.csv", "Phone,Unsubscribed", "+491711234569,yes"),
    ]);

    const sent = sentBodies(mock).map(({ email }) => email);
    expect(sent).toEqual(expect.arrayContaining(["bo@example.com", "cy@example.com"]));
    expect(sent).not.toContain("ada@example.com");
    expect(sent).not.toContain("di@example.com");
  });

  it("stops nobody by its other cells with a few digits, such as a postal code", async () => {
    const mock = await service();

    await run([
      await csv("crm.csv", ...crm),
      await csv("stop.csv", "Phone,Zip,Year,SMS opt-in", "030 765432,34568,4568,no"),
    ]);

    expect(emailConsents(mock)).toHaveProperty("bo@example.com");
  });

  it("stops by its e-mail consent the person who has the number", async () => {
    const mock = await service();
    const path = await csv(
      "people.csv",
      "Email,Phone,Newsletter",
      "a@example.com,+4791234567,yes",
      "b@example.com,+4791234568,yes",
      ",91234567,no",
    );

    const { code } = await run([path]);

    expect(code).toBe(1);
    expect(emailConsents(mock)).toEqual({ "b@example.com": "SUBSCRIBED" });
  });

  it("in a line with another number of cells stops the person too", async () => {
    const mock = await service();
    const path = await csv(
      "people.csv",
      "Email,Phone,Newsletter",
      "a@example.com,+4791234567,yes",
      "b@example.com,+4791234568,yes",
      "Ada,,91 23 45 67,no",
    );

    await run([path]);

    expect(emailConsents(mock)).toEqual({ "b@example.com": "SUBSCRIBED" });
  });

  it("is sent with the address in its row, and the person's other rows with it", async () => {
    const mock = await service();
    const path = await csv(
      "people.csv",
      "Email,Phone,Newsletter,SMS opt-in",
      "a@example.com,91234567,yes,no",
      "a@example.com,+4791234567,yes,yes",
    );

    const { code } = await run([path]);

    expect(code).toBe(0);
    const consents = { email_opt_in: "SUBSCRIBED", phone_opt_in: "UNSUBSCRIBED" };
    expect(sentBodies(mock)).toEqual([
      { email: "a@example.com", ...consents, custom_properties: { phone: "91234567" } },
      { email: "a@example.com", phone: "+4791234567", ...consents },
    ]);
  });

  it("does not stop an opt-out of the person in another row", async () => {
    const mock = await service();
    const path = await csv(
      "people.csv",
      "Email,Phone,Newsletter",
      "a@example.com,+4791234567,no",
      ",91234567,no",
    );

    await run([path]);

    expect(emailConsents(mock)).toEqual({ "a@example.com": "UNSUBSCRIBED" });
  });

  it("and an opt-in whose number cannot be read stops nobody", async () => {
    const mock = await service();
    const path = await csv(
      "people.csv",
      "Email,Phone,SMS opt-in",
      "a@example.com,+4791234567,yes",
      "b@example.com,91234567,yes",
    );

    const { code } = await run([path]);

    expect(code).toBe(0);
    expect(new Set(Object.keys(emailConsents(mock)))).toEqual(new Set(["a@example.com", "b@example.com"]));
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
      const mock = await service();
      const path = await csv("people.csv", "Email,Newsletter", `${first},yes`, `${second},no`);

      const { code } = await run([path]);

      expect(code).toBe(0);
      expect(
        new Set(sentBodies(mock).map(({ email, email_opt_in }) => [email, email_opt_in].join())),
      ).toEqual(new Set([one, other].map((email) => `${email.toLowerCase()},UNSUBSCRIBED`)));
    }
  });

  it("also where a line cannot be read, and where a number is shared", async () => {
    const mock = await service();
    const path = await csv(
      "people.csv",
      "Email,Phone,Newsletter",
      "jo\u0308rg@m\u00fcller.example,+4791234567,yes",
      "j\u00f6rg@xn--mller-kva.example,+4791234567,yes",
      "a@xn--mller-kva.example,,yes",
      "X,a@m\u00fcller.example,,no",
    );

    const { out } = await run([path]);

    expect(out).toContain("Over all files: 3 people in 4 rows.");
    expect(sentBodies(mock).map(({ email, phone }) => [email, phone])).toEqual([
      ["jo\u0308rg@m\u00fcller.example", "+4791234567"],
      ["j\u00f6rg@xn--mller-kva.example", "+4791234567"],
    ]);
  });
});

describe("A refusal by a telephone number stops a person whose own number", () => {
  const refusals: [string, readonly string[]][] = [
    ["a row without an address", ["Email,Phone,Email opt-in", ",+491711234567,no"]],
    ["a row whose address cannot be read", ["Email,Phone,Email opt-in", "ada example.com,+491711234567,no"]],
    ["a line with too many cells", ["Phone,Email opt-in", "+491711234567,no,extra,extra"]],
  ];

  it.each(refusals)("names no country: %s", async (_, stop) => {
    const mock = await service();

    await run([
      await csv(
        "crm.csv",
        "Email,Phone,Email opt-in",
        "ada@example.com,0171 1234567,yes",
        "bo@example.com,,yes",
      ),
      await csv("stop.csv", ...stop),
    ]);

    expect(sentBodies(mock).filter((body) => "email" in body)).toMatchObject([{ email: "bo@example.com" }]);
  });

  it.each(refusals)("was rounded by a spreadsheet: %s", async (_, stop) => {
    const mock = await service();

    await run([
      await csv(
        "crm.csv",
        "Email,Phone,Email opt-in",
        "ada@example.com,4.91711E+11,yes",
        "bo@example.com,,yes",
      ),
      await csv("stop.csv", ...stop),
    ]);

    expect(sentBodies(mock).filter((body) => "email" in body)).toMatchObject([{ email: "bo@example.com" }]);
  });
});

describe("The headings of an address book", () => {
  it("identify the person by the first address and number, and the others are further ones", async () => {
    const mock = await service();
    const path = await csv(
      "contacts.csv",
      "First Name,Unsubscribed,E-mail 1 - Label,E-mail 1 - Value,E-mail 2 - Value,Phone 1 - Label,Phone 1 - Value",
      "Ada,,Home,a@example.com,,Mobile,+47 912 34 567",
      "Bo,yes,,b@example.com,A@example.com,,",
      "Cy,,,,c@example.com,,",
    );

    const { code } = await run([path, "--consent", "keep"]);

    expect(code).toBe(0);
    expect(sentBodies(mock)).toMatchObject([
      { email: "a@example.com", phone: "+4791234567", email_opt_in: "UNSUBSCRIBED" },
      { email: "b@example.com", email_opt_in: "UNSUBSCRIBED" },
      { email: "c@example.com" },
    ]);
  });
});

describe("The heading of the numbers", () => {
  it.each(["Person - Phone - Work", "Person - Phone", "Phone - mobile", "Phone - home", "Mobile (private)"])(
    "is known: %s",
    async (heading) => {
      const mock = await service();
      const path = await csv("c.csv", `Email,SMS opt-in,${heading}`, "a@example.com,yes,+48600100200");

      await run([path]);

      expect(sentBodies(mock)).toEqual([
        { email: "a@example.com", phone: "+48600100200", phone_opt_in: "SUBSCRIBED" },
      ]);
    },
  );

  it.each(["Phone type", "Phone - Owner", "Work phone extension", "Mobile app"])(
    "is none that is about something else: %s",
    async (heading) => {
      const mock = await service();
      const path = await csv("c.csv", `Email,Newsletter,${heading}`, "a@example.com,yes,+48600100200");

      await run([path]);

      expect(sentBodies(mock)).toMatchObject([{ custom_properties: {} }]);
    },
  );
});

describe("The heading of the addresses", () => {
  it.each([
    "Adres e-mail",
    "Mailadres",
    "Endereço de e-mail",
    "E-postadress",
    "Dirección de correo",
    "Dirección de email",
    "Adresse de messagerie",
    "Sähköposti",
    "Email-адрес",
    "Email (primary)",
    "Email - Work",
    "Person - Email - Work",
    "Subscriber",
  ])("is known, so that an opt-in without a channel is not one of the number: %s", async (heading) => {
    const mock = await service();
    const path = await csv("c.csv", `${heading};Telefon;Opt-in`, "a@example.com;+48600100200;yes");

    const { code } = await run([path]);

    expect(code).toBe(0);
    expect(sentBodies(mock)).toEqual([
      { email: "a@example.com", phone: "+48600100200", email_opt_in: "SUBSCRIBED" },
    ]);
  });

  it("is not sought below a title: the headings must come first", async () => {
    const mock = await service();
    const path = await csv(
      "c.csv",
      "Kundenliste 2026;;",
      ";;",
      "E-Mail;Name;Newsletter",
      "a@example.com;Ada;nein",
    );

    const { code, err } = await run([path, "--consent", "SUBSCRIBED"]);

    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining("its headings stand in row 3. Delete the rows above them"),
    });
    expect(mock.requests).toEqual([]);
  });
});

it("A file without headings is refused, as its first person would be lost", async () => {
  const mock = await service();
  const path = await csv("c.csv", "ada@example.com;ja", "bo@example.com;nein");

  const { code, err } = await runAlone([path]);

  expect({ code, err }).toEqual({
    code: 2,
    err: expect.stringContaining("its first row holds an e-mail address"),
  });
  expect(mock.requests).toEqual([]);
});

describe("An address under an unknown heading", () => {
  const people = ["Email,Phone,Newsletter", "a@example.com,,yes", "b@example.com,,yes"];

  it("does not make a row with its own address one about that address", async () => {
    const mock = await service();
    const left = await csv("c.csv", "Email,Recipient,Unsubscribed", "c@example.com,a@example.com,yes");

    await run([await csv("people.csv", ...people), left]);

    expect(emailConsents(mock)).toMatchObject({ "a@example.com": "SUBSCRIBED" });
  });
});

describe("A whole international number under an unknown heading", () => {
  const both: ColumnRule = { consent: "both", words: { on: "SUBSCRIBED", off: "UNSUBSCRIBED" } };

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
        const mock = await service();
        const path = await csv("people.csv", `Email,${heading},Newsletter`, ...lines, "bo@example.com,,on");
        await mapOf(path, { Email: "email", [heading]: rule, Newsletter: both });

        await runAlone([path]);

        expect(emailConsents(mock)).toEqual({
          "ada@example.com": "UNSUBSCRIBED",
          "bo@example.com": "SUBSCRIBED",
        });
      }
    },
  );

  it("is one of the column of another file that names it", async () => {
    const mock = await service();
    const people = await csv("people.csv", "Email,Phone,Newsletter", "ada@example.com,+49 171 1234567,on");
    const left = await csv("left.csv", "Email,Телефон,Newsletter", ",+491711234567,off");
    await mapOf(people, { Email: "email", Phone: "phone", Newsletter: both });
    await mapOf(left, { Email: "email", Телефон: "property", Newsletter: both });

    await runAlone([people, left]);

    expect(emailConsents(mock)).toEqual({ "ada@example.com": "UNSUBSCRIBED" });
  });

  it("does not identify the person under the heading of another person", async () => {
    const mock = await service();
    const heading = "Manager's number";
    const path = await csv(
      "people.csv",
      `Email,${heading},Newsletter`,
      "ada@example.com,+49 171 1234567,on",
      ",+49 171 1234567,off",
    );
    await mapOf(path, { Email: "email", [heading]: "property", Newsletter: both });

    await runAlone([path]);

    expect(emailConsents(mock)).toEqual({ "ada@example.com": "SUBSCRIBED" });
  });
});

describe("A row with no address and no number", () => {
  it.each([
    ["Телефон", "+49 171 1234567", '; this row holds one: write "Телефон": "phone" in the map'],
    ["Recipient", "ada@example.com", '; this row holds one: write "Recipient": "email" in the map'],
    ["Notiz", "Ada", ""],
  ])("is reported as one, with the column that holds one: %s", async (heading, cell, wayOut) => {
    await service();
    const path = await csv("people.csv", `Email,${heading},Newsletter`, `,${cell},no`, "bo@example.com,,yes");
    await mapOf(path, { Email: "email", [heading]: "property", Newsletter: newsletter });

    const { code, out } = await runAlone([path]);

    expect(code).toBe(1);
    expect(out).toContain("The row has no e-mail address and no telephone number: 1");
    expect(out).toContain(`people.csv, row 2: email: required: an email or a phone${wayOut}\n`);
  });
});
