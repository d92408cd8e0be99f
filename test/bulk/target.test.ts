import { createHash } from "node:crypto";
import { AudienceClient, type BulkOptions, type ClientOptions, ConfigurationError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { collectRun, deferred, key, type Row, rows, upsert } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

const acme = "mock-key-of-acme";
const globex = "mock-key-of-globex";

/** Nights of one job over one checkpoint, each with a client of its own: v1 alone, unless it is given v2. */
function job() {
  const mock = createMockService({
    organizations: [
      { id: "acme", apiKeys: [acme, "mock-key-of-acme-2"], appId: "app-acme" },
      { id: "globex", apiKeys: [globex], appId: "app-globex" },
    ],
  });
  const { fetch, rateLimiter } = mock.clientOptions;
  const checkpoint = new MemoryCheckpoint();
  const client = (options: ClientOptions = {}) =>
    new AudienceClient({ baseUrl: "https://api.example", apiKey: acme, fetch, rateLimiter, ...options });
  const runOf = async (audience: AudienceClient, options: BulkOptions<Row> = {}) => {
    const { results, error } = await collectRun(
      audience.bulk(rows(2), upsert, {
        key,
        checkpoint,
        ...options,
      }),
    );
    return error === undefined ? results.map(({ status }) => status) : (error as Error).message;
  };
  /** The statuses of the rows, or the message of the run's failure. */
  const night = (options: ClientOptions = {}, bulkOptions: BulkOptions<Row> = {}) =>
    runOf(client(options), bulkOptions);
  return { mock, checkpoint, client, night, runOf };
}

const sent = ["succeeded", "succeeded"];
const skipped = ["skipped", "skipped"];
const v2 = { baseUrlV2: "https://api2.example", appId: "app-acme" };
const rotated = "mock-key-of-acme-2";
const ofAcme = { organization: "acme" };
const ownOne = "or give this run a checkpoint of its own.";
const otherKey =
  "The checkpoint was recorded with another key of v1 at https://api.example: that of another organization, or one from before " +
  `a rotation. If it is the same organization, name it as \`organization\` in this run and all later ones, ${ownOne}`;

/** The options of a night's client and run, and how its rows end, or a part of the message that refuses it. */
type Night = readonly [ClientOptions, BulkOptions<Row>, readonly string[] | string];

describe("A checkpoint belongs to one service and organization:", () => {
  it.each<[string, ...Night[]]>([
    [
      "a rehearsal on another service does not make the real run skip a row",
      [{ baseUrl: "https://staging.example/" }, {}, sent],
      [
        {},
        {},
        "The checkpoint belongs to another service: v1 at https://staging.example, not https://api.example. " +
          `Keep it for that service, ${ownOne}`,
      ],
      [{ baseUrl: "https://staging.example" }, {}, skipped],
    ],
    [
      "base URLs are compared as the client uses them, without a final slash and in lower case",
      [{ baseUrl: "https://api.example/" }, {}, sent],
      [{ baseUrl: new URL("https://API.example") }, {}, skipped],
      [{ baseUrl: "https://api.example/eu/" }, {}, "not https://api.example/eu."],
    ],
    [
      "no name of an organization takes it to another service",
      [{}, {}, sent],
      [{ baseUrl: "https://new.example" }, ofAcme, "v1 at https://api.example, not https://new.example"],
    ],
    [
      "a run with the key of another organization is refused",
      [{}, {}, sent],
      [{ apiKey: globex }, {}, otherKey],
      [{}, {}, skipped],
    ],
    [
      "after a rotation the name of the organization takes it over, and survives the next rotation",
      [{}, {}, sent],
      [{ apiKey: rotated }, {}, otherKey],
      [{ apiKey: async () => rotated }, {}, otherKey],
      [{ apiKey: async () => acme }, {}, skipped],
      [{ apiKey: rotated }, ofAcme, skipped],
      [{ apiKey: acme }, ofAcme, skipped],
    ],
    [
      "once it has a name, a run without it or with another one is refused",
      [{}, ofAcme, sent],
      [
        {},
        {},
        `The checkpoint belongs to the organization "acme", and this run names none. Name that one as \`organization\`, ${ownOne}`,
      ],
      [
        {},
        { organization: "globex" },
        `The checkpoint belongs to the organization "acme", not "globex". Name that one as \`organization\`, ${ownOne}`,
      ],
    ],
    [
      "a family that comes later is recorded when it comes",
      [{}, {}, sent],
      [v2, {}, skipped],
      [{ ...v2, apiKeyV2: globex }, {}, "another key of v2 at https://api2.example"],
      [
        { ...v2, baseUrlV2: "https://staging.example" },
        {},
        "v2 at https://api2.example, not https://staging.example",
      ],
    ],
    [
      "a family that is missing in a run is no contradiction, and stays recorded",
      [v2, {}, sent],
      [{}, {}, skipped],
      [{ ...v2, apiKeyV2: globex }, {}, "another key of v2"],
    ],
  ])("%s", async (_, ...nights) => {
    const { mock, checkpoint, client } = job();
    for (const [clientOptions, options, expected] of nights) {
      const before = [mock.requests.length, [...checkpoint.entries]];

      const { error, results } = await collectRun(
        client(clientOptions).bulk(rows(2), upsert, { key, checkpoint, ...options }),
      );

      if (typeof expected === "string") {
        expect(error).toBeInstanceOf(ConfigurationError);
        expect(error).toMatchObject({ outcome: "not-sent", message: expect.stringContaining(expected) });
        await expect(
          client(clientOptions).bulk.check(rows(2), upsert, { key, checkpoint, ...options }),
        ).rejects.toThrow(expected);
        expect([mock.requests.length, [...checkpoint.entries]]).toEqual(before);
      } else expect([error, results.map(({ status }) => status)]).toEqual([undefined, expected]);
    }
  });

  it("without a key for the rows it is bound too, as long as its run has not ended", async () => {
    const { night } = job();
    const stop = new AbortController();
    await night({}, { key: undefined, signal: stop.signal, onProgress: () => stop.abort(), concurrency: 1 });

    expect(await night({ apiKey: globex }, { key: undefined })).toContain("another key of v1");
    expect(await night({}, { key: undefined })).toEqual(["skipped", "succeeded"]);
    expect(await night({ apiKey: globex }, { key: undefined })).toEqual(sent);
  });

  it("the service is recorded before the first row is sent", async () => {
    const { client, checkpoint, mock, night, runOf } = job();
    let killed: MemoryCheckpoint | undefined;
    const fetch: typeof mock.fetch = (url, init) => {
      // The process gets no further.
      killed ??= checkpoint.copy();
      return mock.fetch(url, init);
    };

    await runOf(client({ ...v2, fetch }), { organization: "acme" });

    const resumed = { organization: "acme", checkpoint: killed };
    expect(await night({ ...v2, baseUrl: "https://new.example" }, resumed)).toContain("another service: v1");
    expect(await night({ ...v2, baseUrlV2: "https://new.example" }, resumed)).toContain(
      "another service: v2",
    );
    expect(await night(v2, { checkpoint: killed })).toContain('the organization "acme"');
  });

  it("a name that holds a key is refused at once, and so is an empty one, and one of more than 100 characters", async () => {
    const { client, checkpoint } = job();
    const start = (organization: string) => client().bulk(rows(1), () => [], { checkpoint, organization });

    expect(() => start(`acme ${acme}`)).toThrow(
      new ConfigurationError("`organization` must be a name of your own, and not hold a key."),
    );
    expect(() => start("")).toThrow(/organization must be a string that is not empty/);
    expect(() => start("x".repeat(101))).toThrow("`organization` must have at most 100 characters.");
    expect(checkpoint.log).toEqual([]);
  });

  it("a client that shares none of them is refused, unless both runs name the organization", async () => {
    const { mock, client, night } = job();
    const v2Only = new AudienceClient({ ...v2, apiKey: acme, fetch: mock.fetch, rateLimiter: false });
    const one = async (audience: AudienceClient, checkpoint: MemoryCheckpoint, organization?: string) => {
      const toWrites = (item: Row) => (audience === v2Only ? [] : upsert(item));
      return (await collectRun(audience.bulk(rows(1), toWrites, { key, checkpoint, organization }))).error;
    };
    const [byKey, byName] = [new MemoryCheckpoint(), new MemoryCheckpoint()];
    await one(client(), byKey);
    await one(client(), byName, "acme");

    for (const organization of [undefined, "acme"])
      expect(await one(v2Only, byKey, organization)).toEqual(
        new ConfigurationError(
          "The checkpoint was recorded with v1, which this client does not have. " +
            "Configure that family too, or give this run a checkpoint of its own.",
        ),
      );
    expect(await one(v2Only, byName, "acme")).toBeUndefined();
    expect(await night()).toEqual(sent);
  });
});

it.each<[string, ClientOptions, string]>([
  ["a key that the service refuses", { apiKey: "mistyped" }, "API key missing or invalid"],
  ["an address that does not exist", { baseUrl: "https://ap.example" }, "ENOTFOUND"],
])(
  "A checkpoint belongs to nobody before a row may have reached the service: after a night with %s the right one goes on, also if another call was refused as well",
  async (...args) => {
    const [, wrong, message] = args;
    const { mock, night, client, runOf } = job();
    const fetch = async (url: string, init: RequestInit) => {
      if (!url.startsWith("https://ap.example")) return await mock.fetch(url, init);
      const cause = Object.assign(new Error("getaddrinfo ENOTFOUND ap.example"), { code: "ENOTFOUND" });
      throw new TypeError("fetch failed", { cause });
    };
    const mistaken = client({ ...wrong, fetch, maxRetries: 0 });
    const isCurrent = async () => {
      await mistaken.v1.customers.upsert(rows(9)[8]!).catch(() => undefined);
      return true;
    };
    expect(await runOf(mistaken, { stopWhen: () => true, isCurrent })).toContain(message);

    expect(await night()).toEqual(sent);

    expect(await night({ apiKey: globex })).toContain("another key of v1");
  },
);

describe("A key function", () => {
  it("is asked once for the checkpoint, after the run began, also if both families have it", async () => {
    const { client, checkpoint, mock } = job();
    let asked = 0;
    const audience = client({ ...v2, apiKey: () => (asked++, acme) });
    const start = () => audience.bulk([] as Row[], () => [], { key, checkpoint });

    const run = start();
    expect(asked).toBe(0);
    await run;

    expect(asked).toBe(1);
    await start();
    expect(asked).toBe(2);
    expect(mock.requests).toEqual([]);
  });

  it("that fails, or gives no key in time, is the failure of the run, which then holds no checkpoint open", async () => {
    const { night, checkpoint } = job();
    const fails = () => Promise.reject(new Error(`no vault for ${acme}`));

    expect(await night({ apiKey: fails })).toBe("The apiKey function failed: Error");
    expect(await night({ apiKey: () => new Promise<string>(() => {}), timeoutMs: 10 })).toBe(
      "The key function returned no key within 10 ms; nothing was sent.",
    );

    expect(checkpoint.log.filter((step) => step !== "put")).toEqual(["open", "close", "open", "close"]);
    expect(await night()).toEqual(sent);
  });

  it("that hangs does not hold the checkpoint of a run that has ended: the next one begins at once", async () => {
    const { checkpoint, client, night, runOf } = job();
    const endings = [
      (_: AudienceClient, stop: AbortController) => stop.abort(),
      (audience: AudienceClient) => void audience.close(),
    ];

    for (const end of endings) {
      const stop = new AbortController();
      const asked = deferred();
      const hangs = async () => {
        asked.resolve();
        return await new Promise<string>(() => {});
      };
      const audience = client({ apiKey: hangs });
      const ended = runOf(audience, { signal: stop.signal });
      await asked.promise;
      end(audience, stop);
      await ended;
      expect(checkpoint.log.at(-1)).toBe("close");
    }
    expect(await night()).toEqual(sent);
  });
});

it("A checkpoint holds its keys as hashes with a salt of its own", async () => {
  const tables: string[] = [];
  for (let time = 0; time < 2; time++) {
    const { checkpoint, night } = job();
    await night();
    tables.push([...checkpoint.entries].join("\n"));
  }

  expect(tables[0]).not.toBe(tables[1]);
  for (const table of tables) {
    expect(table).not.toContain(acme.slice(0, 8));
    for (const encoding of ["hex", "base64", "base64url"] as const)
      expect(table).not.toContain(createHash("sha256").update(acme).digest(encoding));
  }
});
