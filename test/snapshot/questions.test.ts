import { copyFileSync, existsSync, readFileSync, renameSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { AudienceClient, ConfigurationError } from "audience-sdk";
import { openSnapshot, readSnapshot, type ReadSnapshotOptions, type Snapshot } from "audience-sdk/snapshot";
import { describe, expect, it, vi } from "vitest";
import { collect, createAudience, failingFrom, temporaryFolder } from "./fixture.ts";

describe("`find` finds a contact by what identifies it", () => {
  it.each([
    ["its e-mail address", { email: "ada@example.com" }],
    ["its e-mail address in another case, and with spaces", { email: " ADA@Example.COM " }],
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

  it("two contacts whose ids have one hash in the index are told apart", async () => {
    const data = [{ id: "id-6268" }, { id: "id-103005" }];
    using today = await snapshotOf(data);

    expect(data.map(({ id }) => today.find({ id }))).toEqual(data);
  });

  it.each([
    ["has unsubscribed", { email_opt_in: "UNSUBSCRIBED" }],
    ["is suppressed", { is_suppressed: true }],
    ["stands first in the file, where none has refused", undefined],
  ])("of several contacts with one phone, the one that %s", async (_, refusal) => {
    using today = await snapshotOf([
      { id: "a", phone: "0171", email_opt_in: "SUBSCRIBED" },
      { id: "b", phone: "0171", ...refusal },
    ]);

    expect(today.find({ phone: "0171" })?.id).toBe(refusal ? "b" : "a");
  });

  it.each([
    ["nothing", {}, "needs an `email`, a `phone` or an `id`"],
    ["a misspelled name", { mail: "ada@example.com" }, 'there is no option "mail"'],
    ["a number", { phone: 171 }, "phone must be a string"],
  ])("a query with %s is refused, as it would never find anybody", async (_, query, message) => {
    using today = await snapshotOf([]);

    expect(() => today.find(query as { email: string })).toThrow(ConfigurationError);
    expect(() => today.find(query as { email: string })).toThrow(message);
  });
});

describe("A snapshot keeps its file open until it is closed", () => {
  it("closed, it refuses every question; closing it again changes nothing", async () => {
    const { audience, file } = createAudience(1);
    const today = await readSnapshot(audience, { file });

    today.close();
    today.close();

    for (const id of ["id-0", "nobody"]) expect(() => today.find({ id })).toThrow("The snapshot is closed.");
    await expect(collect(today)).rejects.toThrow("The snapshot is closed.");
    expect(today.size).toBe(1);
  });

  it("opened from another name, it is the same snapshot", async () => {
    const { audience, file } = createAudience(3);
    using today = await readSnapshot(audience, { file });
    renameSync(file, `${file}.old`);

    using opened = await openSnapshot(`${file}.old`);

    expect(existsSync(file)).toBe(false);
    expect(await collect(opened)).toEqual(await collect(today));
    expect([opened.size, opened.complete, opened.readAt]).toEqual([3, true, today.readAt]);
  });

  it.each<[string, (text: string) => number, string]>([
    [
      "within a line",
      (text) => text.length - 10,
      "its last line has no end, or is longer than a line may be",
    ],
    ["behind a line", (text) => text.lastIndexOf("{"), "it has 2 contacts, and its heading says 3"],
    ["to nothing", () => 0, "it has 0 contacts, and its heading says 3"],
  ])("cut off since %s, it says so in place of the end of its contacts", async (_, endOf, reason) => {
    const { audience, file } = createAudience(3);
    using today = await readSnapshot(audience, { file });
    using earlier = await snapshotOf([person("id-9")], { apiKey: "mock-key-acme" });
    truncateSync(file, endOf(readFileSync(file, "latin1")));

    for (const contacts of [today, today.refusalsSince(), today.changesSince(earlier)])
      await expect(collect<object>(contacts)).rejects.toThrow(
        new ConfigurationError(
          `The snapshot ${file} is damaged: ${reason}. Restore it from a copy, or read another one.`,
        ),
      );
  });
});

type ClientOptions = NonNullable<ConstructorParameters<typeof AudienceClient>[0]>;

/** A snapshot of these contacts, read at this service. */
async function snapshotOf(
  data: readonly object[],
  clientOptions: ClientOptions = {},
  options: Partial<ReadSnapshotOptions> = {},
): Promise<Snapshot> {
  const fetch = async (url: string) => {
    const end = Number(new URL(url).searchParams.get("page")) * 100;
    return Response.json({ data: data.slice(end - 100, end) });
  };
  const audience = new AudienceClient({
    baseUrl: "https://api.example",
    apiKey: "key-of-acme",
    fetch,
    rateLimiter: false,
    ...clientOptions,
  });
  return await readSnapshot(audience, { file: join(temporaryFolder(), "audience.ndjson"), ...options });
}

const person = (id: string, fields: object = {}) => ({ id, email_opt_in: "SUBSCRIBED", ...fields });

describe("`changesSince` tells who is new, and whose consent is another than in an earlier snapshot", () => {
  const left = person("a", { email_opt_in: "UNSUBSCRIBED" });
  // The worlds of test/properties play whose consent changes, who is new, and who is no longer shown.
  it.each<[string, object[], object[], object[]]>([
    [
      "who has left",
      [person("a"), person("b")],
      [person("b"), left],
      [{ kind: "consent", contact: left, before: person("a") }],
    ],
    ["everybody since a snapshot of nobody", [], [person("a")], [{ kind: "new", contact: person("a") }]],
    ["nobody of another address", [person("a", { email: "a@x.de" })], [person("a", { email: "b@x.de" })], []],
    ["nobody in another case", [person("a")], [person("a", { email_opt_in: "subscribed" })], []],
  ])("%s", async (_, before, after, changes) => {
    using yesterday = await snapshotOf(before);
    using today = await snapshotOf(after);

    expect(await collect(today.changesSince(yesterday))).toEqual(changes);
  });
});

describe("`refusalsSince` tells who has refused", () => {
  const emails = async (today: Snapshot, last?: Snapshot) =>
    (await collect(today.refusalsSince(last))).map(({ contact }) => contact.email);
  const someone = (id: string, consents: object) => ({ id, email: `${id}@example.com`, ...consents });

  it("all of them without an earlier snapshot, and since one who refuses in a channel in which it did not", async () => {
    const subscribed = { email_opt_in: "SUBSCRIBED", phone_opt_in: "SUBSCRIBED", is_suppressed: false };
    const left = { ...subscribed, email_opt_in: "unsubscribed" };
    using last = await snapshotOf([
      someone("stays", subscribed),
      someone("left", left),
      someone("leaves-phone", left),
      someone("leaves", subscribed),
      someone("came-back", left),
    ]);
    using today = await snapshotOf([
      someone("stays", subscribed),
      someone("left", left),
      someone("leaves-phone", { ...left, phone_opt_in: "UNSUBSCRIBED" }),
      someone("leaves", { ...subscribed, is_suppressed: true }),
      someone("came-back", subscribed),
      someone("new", left),
    ]);

    expect(await emails(last)).toEqual(
      ["left", "leaves-phone", "came-back"].map((id) => `${id}@example.com`),
    );
    expect(await emails(today, last)).toEqual(
      ["leaves-phone", "leaves", "new"].map((id) => `${id}@example.com`),
    );
  });

  it("also one at an address or number that an earlier refusal did not have, but not one with a new spelling", async () => {
    const left = { email_opt_in: "UNSUBSCRIBED", phone: "+4912345678" };
    const suppressed = { email_opt_in: "SUBSCRIBED", is_suppressed: true };
    using last = await snapshotOf(["moves", "stays", "number"].map((id) => someone(id, left)));
    using lastSuppressed = await snapshotOf([someone("moves", suppressed)]);
    using today = await snapshotOf([
      someone("moves", { ...left, email: "new@example.com" }),
      someone("stays", { ...left, email: "STAYS@example.com" }),
      someone("number", { ...left, phone: "+4987654321" }),
    ]);

    expect(await emails(today, last)).toEqual(["new@example.com"]);
    expect(await emails(today, lastSuppressed)).toHaveLength(3);
    using todaySuppressed = await snapshotOf([someone("moves", { ...suppressed, phone: "+4912345678" })]);
    expect(await emails(todaySuppressed, lastSuppressed)).toEqual(["moves@example.com"]);
  });

  it("with the time at which its page was asked for, also of the earlier page if only that one shows it", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 0 });
    const { client, file } = createAudience(0);
    const left = { email_opt_in: "UNSUBSCRIBED" };
    const pages = [
      [someone("a", left), someone("b", left)],
      [someone("a", { email_opt_in: "SUBSCRIBED" }), someone("c", left)],
    ];
    const fetch = async (url: string) => {
      vi.setSystemTime(Date.now() + 60_000);
      const data = pages[Number(new URL(url).searchParams.get("page")) - 1];
      return Response.json({ data, total_pages: 2 });
    };

    using today = await readSnapshot(client({ fetch }), { file });

    const told = await collect(today.refusalsSince());
    expect(told.map(({ contact, readAt }) => [contact.id, readAt.getTime()])).toEqual([
      ["b", 0],
      ["a", 0],
      ["c", 60_000],
    ]);
    expect(told[0]?.contact).toEqual(someone("b", left));
  });
});

describe("`changesSince` and `refusalsSince` refuse where they would silently find nothing", () => {
  const questions = ["changesSince", "refusalsSince"] as const;
  it.each([
    ["the later one", [person("a")], [{ id: "a" }]],
    ["the earlier one", [{ id: "a" }], [person("a")]],
    ["a list of suppressions alone", [person("a")], [{ id: "a", is_suppressed: false }]],
    ["a list of other words", [person("a")], [{ id: "a", email_opt_in: "PENDING" }]],
  ])("no contact of %s shows a consent", async (_, before, after) => {
    using yesterday = await snapshotOf(before);
    using today = await snapshotOf(after);

    for (const question of questions) {
      const answer = collect<unknown>(today[question](yesterday));
      await expect(answer).rejects.toThrow(ConfigurationError);
      await expect(answer).rejects.toThrow(/^No contact of the snapshot .+ shows a consent/);
    }
  });

  it("something else than a snapshot", async () => {
    using today = await snapshotOf([]);

    for (const question of questions) {
      const answer = collect<unknown>(today[question]("last.ndjson" as unknown as Snapshot));
      await expect(answer).rejects.toThrow("must be a snapshot");
    }
  });
});

describe("Snapshots of two organizations are never compared", () => {
  const acme = { organization: "acme" };
  const oldKey = { apiKey: "old-key" };
  it.each<[string, ClientOptions, object, object, string?]>([
    ["two keys", oldKey, {}, {}, "was recorded with another key of v1 at https://api"],
    ["two names", {}, { organization: "globex" }, acme, 'belongs to the organization "globex", not "acme"'],
    ["two keys of one name, which are one", oldKey, acme, acme],
    ["a key, and later a name, which are one", oldKey, {}, acme],
  ])("%s", async (_, client, options, laterOptions, message) => {
    using yesterday = await snapshotOf([person("a")], client, options);
    using today = await snapshotOf([person("a")], {}, laterOptions);

    const changes = collect(today.changesSince(yesterday));

    if (message === undefined) return expect(await changes).toEqual([]);
    await expect(changes).rejects.toThrow(ConfigurationError);
    await expect(changes).rejects.toThrow(message);
  });
});

describe("A read that goes on is of the same organization", () => {
  /** A read that has ended after its first page. */
  async function cutOff() {
    const made = createAudience(150);
    const reading = readSnapshot(made.client({ fetch: failingFrom(2, made.mock.fetch) }), {
      file: made.file,
    });
    await expect(reading).rejects.toThrow("The connection to");
    return made;
  }

  it.each([
    ["another service", { baseUrl: "https://staging.example" }, "The snapshot belongs to another service"],
    [
      "another key",
      { apiKey: "mock-key-globex" },
      "name it as `organization` in `readSnapshot`, which then begins afresh",
    ],
  ])("%s is refused, and the read stays", async (_, options, message) => {
    const { audience, client, file, mock } = await cutOff();

    const refused = readSnapshot(client(options), { file });

    await expect(refused).rejects.toThrow(ConfigurationError);
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toThrow("or give this run a snapshot of its own");
    using today = await readSnapshot(audience, { file });
    expect(today).toMatchObject({ size: 150, complete: true });
    expect(mock.requests.filter(({ query }) => query["page"] === "1")).toHaveLength(1);
  });

  it("a read without a page is of none: one with the right key takes its place", async () => {
    const { audience, client, file } = createAudience(150);
    await expect(readSnapshot(client({ apiKey: "mistyped" }), { file })).rejects.toThrow("401");

    using today = await readSnapshot(audience, { file });

    expect(today).toMatchObject({ size: 150, complete: true });
  });

  it("under a name that is given later it begins afresh, as its pages may be another organization's", async () => {
    const { client, file, mock } = await cutOff();

    using today = await readSnapshot(client({ apiKey: "mock-key-acme-2" }), { file, organization: "acme" });

    expect(mock.requests.map(({ query }) => query["page"])).toEqual(["1", "1", "2"]);
    copyFileSync(file, `${file}.copy`);
    using copy = await openSnapshot(`${file}.copy`);
    expect(await collect(copy.changesSince(today))).toEqual([]);
  });
});
