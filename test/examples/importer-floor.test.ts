import { describe, expect, it } from "vitest";
import { mapOf, newsletter } from "./importer-answers.ts";
import { csv, emailConsents, runAlone, sentBodies, service, temporaryFolder } from "./importer-fixture.ts";

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
  ])("in an ignored column too: %s", async (word) => {
    const { code, out, consents } = await imported(
      ["Email,Newsletter,Notes", `a@example.com,yes,${word}`, "b@example.com,yes,likes tea"],
      { Email: "email", Newsletter: newsletter, Notes: "ignore" },
    );

    expect({ code, consents }).toEqual({ code: 1, consents: { "b@example.com": "SUBSCRIBED" } });
    expect(out).toContain("A cell says that the person has refused: 1");
  });

  it.each(["not opted out", "never unsubscribed", "unsubscribe link shown", "likes to opt out of nothing"])(
    "and no other text does: %s",
    async (text) => {
      const { code, consents } = await imported(["Email,Newsletter,Notes", `a@example.com,yes,${text}`], {
        Email: "email",
        Newsletter: newsletter,
        Notes: "property",
      });

      expect({ code, consents }).toEqual({ code: 0, consents: { "a@example.com": "SUBSCRIBED" } });
    },
  );

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
