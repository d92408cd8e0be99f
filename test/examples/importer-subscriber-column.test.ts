import { expect, it } from "vitest";
import { csv, emailConsents, run, service, temporaryFolder } from "./importer-fixture.ts";

const imported = async (...lines: string[]) => {
  const mock = await service();
  const { code, out, err } = await run([await csv(await temporaryFolder(), "people.csv", ...lines)]);
  return { code, out, err, consents: emailConsents(mock) };
};

it.each([
  ["with a telephone column", "Subscriber,Phone,Status", "ada@example.com,+447700900511,unsubscribed"],
  ["without a telephone column", "Subscriber,Sent,Status", "ada@example.com,3,unsubscribed"],
])("Addresses under Subscriber identify the people of a file %s", async (_which, headings, line) => {
  const { code, consents } = await imported(headings, line);

  expect({ code, consents }).toEqual({ code: 0, consents: { "ada@example.com": "UNSUBSCRIBED" } });
});

it("A yes under Subscriber is an opt-in, and a no an opt-out", async () => {
  const { code, consents } = await imported("Email,Subscriber", "ada@example.com,yes", "bo@example.com,no");

  expect({ code, consents }).toEqual({
    code: 0,
    consents: { "ada@example.com": "SUBSCRIBED", "bo@example.com": "UNSUBSCRIBED" },
  });
});
