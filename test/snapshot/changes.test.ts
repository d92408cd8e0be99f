import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { AudienceClient, ConfigurationError } from "audience-sdk";
import { openSnapshot, readSnapshot, type ReadSnapshotOptions, type Snapshot } from "audience-sdk/snapshot";
import { describe, expect, it } from "vitest";
import { collect, createAudience, temporaryFolder } from "./fixture.ts";

type ClientOptions = NonNullable<ConstructorParameters<typeof AudienceClient>[0]>;

/** A snapshot of these contacts, read at this service. */
async function snapshotOf(
  data: readonly object[],
  clientOptions: ClientOptions = {},
  options: Partial<ReadSnapshotOptions> = {},
): Promise<Snapshot> {
  const fetch = async () => Response.json({ data });
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

describe("`changesSince` tells whose consent is another than in an earlier snapshot", () => {
  it.each([
    ["who has unsubscribed", person("a", { email_opt_in: "UNSUBSCRIBED" })],
    ["who has subscribed to the phone", person("a", { phone_opt_in: "SUBSCRIBED" })],
    ["who was suppressed", person("a", { is_suppressed: true })],
  ])("%s", async (_, contact) => {
    using yesterday = await snapshotOf([person("a"), person("b")]);
    using today = await snapshotOf([person("b"), contact]);

    expect(await collect(today.changesSince(yesterday))).toEqual([
      { kind: "consent", contact, before: person("a") },
    ]);
  });

  it("who is new, so that the consent counts too", async () => {
    using yesterday = await snapshotOf([person("a")]);
    using today = await snapshotOf([person("a"), person("b", { email_opt_in: "UNSUBSCRIBED" })]);

    expect(await collect(today.changesSince(yesterday))).toEqual([
      { kind: "new", contact: person("b", { email_opt_in: "UNSUBSCRIBED" }) },
    ]);
  });

  it.each([
    ["nobody who is missing", [person("a"), person("b")], [person("a")]],
    ["nobody whose consent is no longer shown", [person("a"), person("b")], [{ id: "a" }, person("b")]],
    [
      "nobody whose address has changed",
      [person("a", { email: "a@x.de" })],
      [person("a", { email: "b@x.de" })],
    ],
    ["nobody whose consent is in another case", [person("a")], [person("a", { email_opt_in: "subscribed" })]],
    ["nobody of an empty list", [person("a")], []],
  ])("and %s", async (_, before, after) => {
    using yesterday = await snapshotOf(before);
    using today = await snapshotOf(after);

    expect(await collect(today.changesSince(yesterday))).toEqual([]);
  });

  it("everybody since a snapshot of nobody", async () => {
    using yesterday = await snapshotOf([]);
    using today = await snapshotOf([person("a")]);

    expect(await collect(today.changesSince(yesterday))).toEqual([{ kind: "new", contact: person("a") }]);
  });

  it("whose consent is shown again after it was not", async () => {
    using yesterday = await snapshotOf([{ id: "a" }, person("b")]);
    using today = await snapshotOf([person("a"), person("b")]);

    expect(await collect(today.changesSince(yesterday))).toEqual([
      { kind: "consent", contact: person("a"), before: { id: "a" } },
    ]);
  });
});

describe("`changesSince` refuses where it would silently find nothing", () => {
  it.each([
    ["the later one", [person("a")], [{ id: "a" }]],
    ["the earlier one", [{ id: "a" }], [person("a")]],
  ])("no contact of %s shows a consent", async (_, before, after) => {
    using yesterday = await snapshotOf(before);
    using today = await snapshotOf(after);

    const changes = collect(today.changesSince(yesterday));

    await expect(changes).rejects.toThrow(ConfigurationError);
    await expect(changes).rejects.toThrow(/^No contact of the snapshot .+ shows a consent/);
  });

  it("a list whose items show none, as the mock can have", async () => {
    const { audience, file } = createAudience(3, { variants: { v1ListedConsents: false } });
    using today = await readSnapshot(audience, { file });

    expect(today.find({ id: "id-0" })).not.toHaveProperty("email_opt_in");
    await expect(collect(today.changesSince(today))).rejects.toThrow("shows a consent");
  });

  it("something else than a snapshot", async () => {
    using today = await snapshotOf([]);

    expect(() => today.changesSince("yesterday.ndjson" as unknown as Snapshot)).toThrow("must be a snapshot");
  });
});

describe("Snapshots of two organizations are never compared", () => {
  const acme = { organization: "acme" };
  const named = "read the later one with that name as `organization`";
  it.each([
    [
      "of two services",
      [{ baseUrl: "https://staging.example" }, {}],
      [{}, {}],
      "https://staging.example are two services",
    ],
    ["with two keys", [{ apiKey: "key-of-globex" }, {}], [{}, {}], "they were read with two keys"],
    ["of two names", [{}, { organization: "globex" }], [{}, acme], named],
    ["of a name, and later of a key", [{}, acme], [{}, {}], named],
  ] as const)("%s", async (_, [client, options], [laterClient, laterOptions], message) => {
    using yesterday = await snapshotOf([person("a")], client, options);
    using today = await snapshotOf(
      [person("a", { email_opt_in: "UNSUBSCRIBED" })],
      laterClient,
      laterOptions,
    );

    const changes = collect(today.changesSince(yesterday));

    await expect(changes).rejects.toThrow(ConfigurationError);
    await expect(changes).rejects.toThrow(message);
  });

  it.each([
    ["two keys of one name", [{ apiKey: "old-key" }, acme], [{}, acme]],
    ["a name that is given later", [{ apiKey: "old-key" }, {}], [{}, acme]],
  ] as const)("but %s are one", async (_, [client, options], [laterClient, laterOptions]) => {
    using yesterday = await snapshotOf([person("a")], client, options);
    using today = await snapshotOf([person("a")], laterClient, laterOptions);

    expect(await collect(today.changesSince(yesterday))).toEqual([]);
  });
});

describe("A read that goes on is of the same organization", () => {
  it.each([
    [
      "another service",
      { baseUrl: "https://staging.example" },
      {},
      "The snapshot belongs to another service",
    ],
    ["another key", { apiKey: "mock-key-globex" }, {}, "The snapshot was recorded with another key"],
  ])("%s is refused, and the read stays", async (_, options, readOptions, message) => {
    const { audience, client, file, mock } = createAudience(150);
    const stop = async (url: string, init: RequestInit) => {
      if (url.includes("page=2")) throw new TypeError("killed");
      return await mock.fetch(url, init);
    };
    await expect(readSnapshot(client({ fetch: stop }), { file })).rejects.toThrow("The connection to");

    const refused = readSnapshot(client(options), { file, ...readOptions });

    await expect(refused).rejects.toThrow(ConfigurationError);
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toThrow("or give this run a snapshot of its own");
    using today = await readSnapshot(audience, { file });
    expect(today).toMatchObject({ size: 150, complete: true });
    expect(mock.requests.filter(({ query }) => query["page"] === "1")).toHaveLength(1);
  });

  it("a name that is given later takes the read over, as after a rotation of keys", async () => {
    const { client, file, mock } = createAudience(150);
    const stop = async (url: string, init: RequestInit) => {
      if (url.includes("page=2")) throw new TypeError("killed");
      return await mock.fetch(url, init);
    };
    await expect(readSnapshot(client({ fetch: stop }), { file })).rejects.toThrow("The connection to");

    using today = await readSnapshot(client({ apiKey: "mock-key-acme-2" }), { file, organization: "acme" });

    expect(today.size).toBe(150);
    copyFileSync(file, `${file}.copy`);
    using copy = await openSnapshot(`${file}.copy`);
    expect(await collect(copy.changesSince(today))).toEqual([]);
  });

  it("a name never holds a key", async () => {
    const { audience, file } = createAudience(1);

    const reading = readSnapshot(audience, { file, organization: "mock-key-acme" });

    await expect(reading).rejects.toThrow("must be a name of your own");
  });
});
