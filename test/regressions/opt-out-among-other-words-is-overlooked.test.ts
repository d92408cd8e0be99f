import { expect, it } from "vitest";
import { csv, emailConsents, run, service, temporaryFolder } from "../examples/importer-fixture.ts";

// The yes of another column made each person a subscriber.
it.each([
  ["Tags", '"newsletter, unsubscribed"'],
  ["Tags", "vip|abgemeldet"],
  ["Tags", '"[""vip"",""do not email""]"'],
  ["Tags", '"vip; opted out"'],
  ["Remark", "Abgemeldet am 1. Mai"],
  ["Communication preferences", "No emails"],
  ["Kontaktsperre", "ja"],
  ["Mailingsperre", "x"],
])("%s: %s is an opt-out beside a yes", async (heading, cell) => {
  const mock = await service();
  const file = await csv(
    await temporaryFolder(),
    "people.csv",
    `email,newsletter,${heading}`,
    `ada@example.com,yes,${cell}`,
    "bob@example.com,yes,",
  );

  expect((await run([file])).code).toBe(0);
  expect(emailConsents(mock)).toEqual({ "ada@example.com": "UNSUBSCRIBED", "bob@example.com": "SUBSCRIBED" });
});
