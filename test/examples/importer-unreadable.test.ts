import { describe, expect, it } from "vitest";
import { csv, emailConsents, run, service, temporaryFolder } from "./importer-fixture.ts";

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
