import { existsSync, renameSync } from "node:fs";
import { ConfigurationError } from "audience-sdk";
import { openSnapshot, readSnapshot } from "audience-sdk/snapshot";
import { describe, expect, it } from "vitest";
import { collect, contactsOf, createAudience } from "./fixture.ts";

/** A snapshot of these contacts. */
async function snapshotOf(contacts: readonly object[]) {
  const { client, file } = createAudience(0);
  const fetch = async (url: string) => {
    const end = Number(new URL(url).searchParams.get("page")) * 100;
    return Response.json({ data: contacts.slice(end - 100, end) });
  };
  return await readSnapshot(client({ fetch }), { file });
}

describe("`find` finds a contact by what identifies it", () => {
  it.each([
    ["its e-mail address", { email: "ada@example.com" }],
    ["its e-mail address in another case, and with spaces", { email: " ADA@Example.COM " }],
    ["its domain in another spelling", { email: "ada@EXAMPLE.com" }],
    ["its phone number", { phone: "+491711234567" }],
    ["its phone number in another spelling", { phone: "+49 (171) 123-4567" }],
    ["its id", { id: "a" }],
    ["whichever of them is known", { email: "nobody@example.com", phone: "+491711234567" }],
  ])("%s", async (_, query) => {
    using today = await snapshotOf([
      { id: "b", email: "bob@example.com" },
      { id: "a", email: "Ada@example.com", phone: "+49 171 1234567" },
    ]);

    expect(today.find(query)).toEqual({ id: "a", email: "Ada@example.com", phone: "+49 171 1234567" });
  });

  it.each([
    ["an address that nobody has", { email: "eve@example.com" }],
    ["an empty address, as strangers share it", { email: "" }],
    ["a phone without a digit, as strangers share it", { phone: "n/a" }],
    ["an id in another case", { id: "A" }],
  ])("and nobody by %s", async (_, query) => {
    using today = await snapshotOf([{ id: "a", email: "ada@example.com", phone: "n/a" }]);

    expect(today.find(query)).toBeUndefined();
  });

  it("each of 2,000 contacts, whatever letters their addresses have", async () => {
    const data = Array.from({ length: 2_000 }, (_, index) => ({
      id: `id-${index}`,
      email: `ü${index}@müller.de`,
    }));
    using today = await snapshotOf(data);

    const found = data.map(({ email }) => today.find({ email: email.toUpperCase() })?.id);

    expect(found).toEqual(data.map(({ id }) => id));
  });

  it.each([
    ["has unsubscribed", { email_opt_in: "UNSUBSCRIBED" }],
    ["is suppressed", { is_suppressed: true }],
  ])("of several contacts with one phone, the one that %s", async (_, refusal) => {
    using today = await snapshotOf([
      { id: "a", phone: "0171", email_opt_in: "SUBSCRIBED" },
      { id: "b", phone: "0171", ...refusal },
    ]);

    expect(today.find({ phone: "0171" })?.id).toBe("b");
  });

  it("and the first one where none has refused", async () => {
    using today = await snapshotOf([
      { id: "a", phone: "0171" },
      { id: "b", phone: "0171" },
    ]);

    expect(today.find({ phone: "0171" })?.id).toBe("a");
  });

  it.each([
    ["nothing", {}, "needs an `email`, a `phone` or an `id`"],
    ["only undefined", { email: undefined }, "needs an `email`, a `phone` or an `id`"],
    ["a misspelled name", { mail: "ada@example.com" }, 'there is no option "mail"'],
    ["a number", { phone: 171 }, "phone must be a string"],
  ])("a query with %s is refused, as it would never find anybody", async (_, query, message) => {
    using today = await snapshotOf([]);

    expect(() => today.find(query as { email: string })).toThrow(ConfigurationError);
    expect(() => today.find(query as { email: string })).toThrow(message);
  });
});

describe("A snapshot keeps its file open until it is closed", () => {
  it("so it finds contacts after another snapshot has replaced it", async () => {
    const { audience, mock, file } = createAudience(1);
    using before = await readSnapshot(audience, { file });
    mock.unsubscribe("id-0", { organization: "acme", channel: "email" });

    using after = await readSnapshot(audience, { file });

    expect(before.find({ id: "id-0" })?.email_opt_in).toBe("SUBSCRIBED");
    expect((await contactsOf(before))[0]?.email_opt_in).toBe("SUBSCRIBED");
    expect(after.find({ id: "id-0" })?.email_opt_in).toBe("UNSUBSCRIBED");
  });

  it("closed, it refuses every question; closing it again changes nothing", async () => {
    const { audience, file } = createAudience(1);
    const today = await readSnapshot(audience, { file });

    today.close();
    today.close();

    expect(() => today.find({ id: "id-0" })).toThrow("The snapshot is closed.");
    await expect(collect(today)).rejects.toThrow("The snapshot is closed.");
    expect(today.size).toBe(1);
  });

  it("closed within a loop, it ends the loop", async () => {
    const { audience, file } = createAudience(2);
    const today = await readSnapshot(audience, { file });
    const seen: string[] = [];

    const loop = async () => {
      for await (const { id } of today) {
        seen.push(id);
        today.close();
      }
    };

    await expect(loop()).rejects.toThrow("The snapshot is closed.");
    expect(seen).toEqual(["id-0"]);
  });

  it("opened from another name, it is the same snapshot", async () => {
    const { audience, file } = createAudience(3);
    using today = await readSnapshot(audience, { file });
    renameSync(file, `${file}.old`);

    using opened = await openSnapshot(`${file}.old`);

    expect(existsSync(file)).toBe(false);
    expect(await contactsOf(opened)).toEqual(await contactsOf(today));
    expect([opened.size, opened.complete, opened.readAt]).toEqual([3, true, today.readAt]);
  });
});
