import { expect, it } from "vitest";
import { csv, emailConsents, run, service, temporaryFolder } from "../examples/importer-fixture.ts";

const imported = async (...lines: string[]) => {
  const mock = await service();
  const { code } = await run([await csv(await temporaryFolder(), "people.csv", ...lines)]);
  return { code, subscribed: Object.values(emailConsents(mock)).includes("SUBSCRIBED") };
};

it.each([
  ["email,Kein Newsletter", "ada@example.com,yes"],
  ["email,Newsletter abbestellt", "ada@example.com,ja"],
  ["email,Permission denied", "ada@example.com,yes"],
  ["email,Photo consent", "ada@example.com,yes"],
  ["email,Newsletter opened", "ada@example.com,yes"],
  ["Order,email,Status", "1,ada@example.com,Confirmed"],
  ["id,email,status", "1,ada@example.com,1"],
  ["email,newsletter,State", "ada@example.com,yes,Unsubscribed"],
  ["email,newsletter,Kontaktstatus", "ada@example.com,yes,abgemeldet"],
  ["email,newsletter,Keine Werbung", "ada@example.com,yes,ja"],
])("%s with %s subscribes nobody", async (headings, row) => {
  expect(await imported(headings, row)).toMatchObject({ subscribed: false });
});

it("A line with surplus cells, which may hide a refusal, also stops the other rows of its person", async () => {
  const ending = await imported(
    "email,newsletter,company,note,opted_out",
    "ann@example.com,yes,Foo, Inc,,yes",
    "ann@example.com,yes,Foo,x,",
  );

  expect(ending).toEqual({ code: 1, subscribed: false });
});
