import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AudienceClient } from "audience-sdk";
import { readSnapshot } from "audience-sdk/snapshot";
import { describe, expect, it } from "vitest";
import {
  csv,
  emailConsents,
  run,
  type Seeds,
  sentBodies,
  service,
  temporaryFolder,
} from "./importer-fixture.ts";

/** An import of these lines over these contacts, of which there is a snapshot. */
async function imported(contacts: Seeds, lines: readonly string[], ...options: string[]) {
  const mock = await service(contacts);
  const folder = await temporaryFolder();
  const file = join(folder, "audience.ndjson");
  await using audience = new AudienceClient();
  (await readSnapshot(audience, { file })).close();
  const path = await csv(folder, "people.csv", ...lines);
  const again = () => run([path, "--snapshot", file, ...options]);
  return { mock, file, again, ...(await again()) };
}

const unsubscribed = { email: "a@example.com", email_opt_in: "UNSUBSCRIBED" } as const;
const reason = "the service knows a stricter one: the snapshot shows that the person has refused";

describe("--snapshot", () => {
  it.each([
    ["an opt-in over an opt-out", unsubscribed, "email_opt_in", "SUBSCRIBED"],
    ["a never over an opt-out", unsubscribed, "email_opt_in", "NON_SUBSCRIBED"],
    [
      "an opt-in over a suppression",
      { email: "a@example.com", email_opt_in: "SUBSCRIBED", is_suppressed: true },
      "email_opt_in",
      "SUBSCRIBED",
    ],
  ] as const)("holds back and reports %s, and imports the others", async (_what, contact, heading, word) => {
    const { mock, code, out } = await imported(
      [contact],
      [`email,${heading}`, `a@example.com,${word}`, "b@example.com,SUBSCRIBED"],
    );

    expect(code).toBe(1);
    expect(out).toContain("The service knows that these people have refused: 1");
    expect(out).toContain(`people.csv, row 2: email consent: is held back: ${reason}`);
    expect(sentBodies(mock)).toEqual([{ email: "b@example.com", email_opt_in: "SUBSCRIBED" }]);
    expect(emailConsents(mock)["a@example.com"]).toBe(contact.email_opt_in);
  });

  it("still sends the opt-outs of such a row, and no NON_SUBSCRIBED", async () => {
    const { mock, code } = await imported(
      [{ ...unsubscribed, phone: "+447700900511", phone_opt_in: "SUBSCRIBED" }],
      ["email,phone,email_opt_in,phone_opt_in", "a@example.com,+447700900511,NON_SUBSCRIBED,UNSUBSCRIBED"],
    );

    expect(code).toBe(1);
    expect(sentBodies(mock)).toEqual([{ phone: "+447700900511", phone_opt_in: "UNSUBSCRIBED" }]);
    expect(mock.organization("real").contacts).toMatchObject([
      { email_opt_in: "UNSUBSCRIBED", phone_opt_in: "UNSUBSCRIBED" },
    ]);
  });

  it("holds back nobody who is as strict in the file, or has not refused", async () => {
    const { mock, code } = await imported(
      [unsubscribed, { email: "b@example.com", email_opt_in: "NON_SUBSCRIBED" }],
      ["email,email_opt_in", "a@example.com,UNSUBSCRIBED", "b@example.com,SUBSCRIBED"],
    );

    expect(code).toBe(0);
    expect(emailConsents(mock)).toEqual({ "a@example.com": "UNSUBSCRIBED", "b@example.com": "SUBSCRIBED" });
  });

  it("holds back a row that leaves a refused consent to the service", async () => {
    const { mock, code, out } = await imported(
      [unsubscribed],
      ["email,city", "a@example.com,Leeds"],
      "--consent",
      "keep",
    );

    expect({ code, sent: sentBodies(mock) }).toEqual({ code: 1, sent: [] });
    expect(out).toContain(reason);
  });

  it("counts in a dry run, too, which sends nothing", async () => {
    const { mock, code, out } = await imported(
      [unsubscribed],
      ["email,email_opt_in", "a@example.com,SUBSCRIBED"],
      "--dry-run",
    );

    expect({ code, sent: sentBodies(mock) }).toEqual({ code: 1, sent: [] });
    expect(out).toContain(reason);
  });

  it("of another service, or older than a day, is refused before anything is sent", async () => {
    const { file, again } = await imported(
      [unsubscribed],
      ["email,email_opt_in", "b@example.com,SUBSCRIBED"],
    );
    const other = await service([unsubscribed]);

    expect(await again()).toMatchObject({ code: 2, err: expect.stringContaining("another") });
    expect(sentBodies(other)).toEqual([]);

    const text = await readFile(file, "utf8");
    await writeFile(file, text.replace(/"readAt":"[^"]*"/, '"readAt":"2020-01-01T00:00:00.000Z"'));
    expect(await again()).toMatchObject({ code: 2, err: expect.stringContaining("over a day") });
    expect(sentBodies(other)).toEqual([]);
  });

  it("that is missing, or no snapshot, is refused", async () => {
    await service();
    const path = await csv(
      await temporaryFolder(),
      "people.csv",
      "email,email_opt_in",
      "a@example.com,SUBSCRIBED",
    );

    for (const file of [`${path}.none`, path])
      expect(await run([path, "--snapshot", file])).toMatchObject({
        code: 2,
        err: expect.stringContaining(file),
      });
  });
});
