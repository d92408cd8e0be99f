import { AudienceClient, type BulkOptions, type BulkRequest } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it, vi } from "vitest";
import { collectRun, deferred, key, row, rows, until, type Row, v2Contact } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

type ClientOptions = NonNullable<ConstructorParameters<typeof AudienceClient>[0]>;
type World = ReturnType<typeof createWorld>;

const ada = row(0);
const [key1, key2, otherKey] = ["mock-key-of-acme-1", "mock-key-of-acme-2", "mock-key-of-globex"] as const;

/** A service with two organizations, and the client of a job. */
function createWorld(options: Partial<ClientOptions> = {}) {
  const mock = createMockService({
    organizations: [
      { id: "acme", apiKeys: [key1, key2], appId: "app", lists: [{ id: "list", name: "List" }] },
      { id: "globex", apiKeys: [otherKey], appId: "app" },
    ],
  });
  const clientOptions: ClientOptions = { ...mock.clientOptions, apiKey: key1, ...options };
  const audience = new AudienceClient(clientOptions);
  const clientWith = (other: Partial<ClientOptions> = {}) =>
    new AudienceClient({ ...clientOptions, ...other });
  return { mock, audience, clientOptions, clientWith };
}

/** A run of Ada's row, which waits until `write` has ended. */
async function runBehind(world: World, write: () => PromiseLike<unknown>, options: BulkOptions<Row> = {}) {
  const { audience, mock } = world;
  async function* source() {
    await write();
    yield ada;
  }
  const upsert = (item: Row, request: BulkRequest) => audience.v1.customers.upsert(item, request);
  const { results, error } = await collectRun(audience.bulk(source(), upsert, options));
  expect(error).toBeUndefined();
  const [contact] = mock.organization("acme").contacts;
  return { result: results[0]!, consent: contact?.email_opt_in };
}

function optOut({ v1 }: Pick<AudienceClient, "v1">, contact: Row = ada): PromiseLike<unknown> {
  return v1.customers.upsert({ ...contact, email_opt_in: "UNSUBSCRIBED" });
}

function optOutByV2({ v2 }: AudienceClient): PromiseLike<unknown> {
  return v2.contacts.upsert(v2Contact(ada.email, "unsubscribed"));
}

const sharedKey = () => key1;
const sharedKeyFunction: [string, Partial<ClientOptions>][] = [
  ["a key", {}],
  ["a key function", { apiKey: sharedKey }],
];

describe("A row is superseded by the opt-out that was written through", () => {
  it.each(sharedKeyFunction)(
    "another client of the process with the same base URL and %s",
    async (_, options) => {
      const world = createWorld(options);

      const { result, consent } = await runBehind(world, () => optOut(world.clientWith()));

      expect(result).toMatchObject({
        status: "superseded",
        reason: "process",
        error: { outcome: "not-sent" },
      });
      expect(consent).toBe("UNSUBSCRIBED");
      expect(world.mock.requests).toHaveLength(1);
    },
  );

  it.each<[string, ownKey: ClientOptions["apiKey"], webKey: ClientOptions["apiKey"]]>([
    ["a function that gives the key of the run", key1, () => key1],
    ["the key that the run's function gives", () => key1, key1],
    ["another function that gives the same key", () => key1, async () => key1],
  ])("another client with %s", async (_, ownKey, webKey) => {
    const world = createWorld({ apiKey: ownKey });

    const { result, consent } = await runBehind(world, () => optOut(world.clientWith({ apiKey: webKey })));

    expect(result).toMatchObject({ status: "superseded", reason: "process" });
    expect(consent).toBe("UNSUBSCRIBED");
  });

  it.each<[string, Partial<ClientOptions>]>([
    ["the key", { apiKey: key1 }],
    ["a function that gives the key", { apiKey: () => key1 }],
  ])("another client that shares %s of one family, and not that of the other", async (_, shared) => {
    const world = createWorld();

    const { result, consent } = await runBehind(world, () =>
      optOut(world.clientWith({ ...shared, apiKeyV2: key2 })),
    );

    expect(result).toMatchObject({ status: "superseded", reason: "process" });
    expect(consent).toBe("UNSUBSCRIBED");
  });

  it("another client with the same key function, which is asked once for its request, and once for the row", async () => {
    let asked = 0;
    const apiKey = () => {
      asked += 1;
      return key1;
    };
    const world = createWorld({ apiKey });

    const { result } = await runBehind(world, () => optOut(world.clientWith()));

    expect(result).toMatchObject({ status: "superseded", reason: "process" });
    expect(world.mock.requests).toHaveLength(1);
    expect(asked).toBe(2);
  });

  it("another client whose function gives the key of the run since its rotation", async () => {
    const world = createWorld({ apiKey: () => key2 });
    let current: string = key1;
    const web = world.clientWith({ apiKey: () => current });
    await web.v1.contactGroups.get("list");

    const { result, consent } = await runBehind(world, async () => {
      current = key2;
      await optOut(web);
    });

    expect(result).toMatchObject({ status: "superseded", reason: "process" });
    expect(consent).toBe("UNSUBSCRIBED");
  });

  it.each<[string, (world: World) => PromiseLike<unknown>]>([
    ["a view of the client", ({ audience }) => optOut(audience.withOptions({ timeoutMs: 1_000 }))],
    ["the other family", ({ audience }) => optOutByV2(audience)],
    ["the other family of another client", ({ clientWith }) => optOutByV2(clientWith())],
    [
      "another client whose base URL is written in another way",
      ({ clientOptions, clientWith }) => optOut(clientWith({ baseUrl: `${String(clientOptions.baseUrl)}/` })),
    ],
    [
      "a row of another client's run",
      ({ clientWith }) => {
        const web = clientWith();
        const leaving: Row = { ...ada, email_opt_in: "UNSUBSCRIBED" };
        return web.bulk([leaving], (item, request) => web.v1.customers.upsert(item, request));
      },
    ],
  ])("%s", async (_, write) => {
    const world = createWorld();

    const { result, consent } = await runBehind(world, () => write(world));

    expect(result).toMatchObject({ status: "superseded", reason: "process" });
    expect(consent).toBe("UNSUBSCRIBED");
  });

  it("the family that the run's own client does not have", async () => {
    const world = createWorld();
    const audience = world.clientWith({ baseUrlV2: undefined, appId: undefined });

    const { result, consent } = await runBehind({ ...world, audience }, () => optOutByV2(world.audience));

    expect(result).toMatchObject({ status: "superseded", reason: "process" });
    expect(consent).toBe("UNSUBSCRIBED");
  });

  it("another instance of the package in the process, as of its other module format", async () => {
    const world = createWorld();
    vi.resetModules();
    const other = await import("audience-sdk");
    expect(other.AudienceClient).not.toBe(AudienceClient);

    const { result, consent } = await runBehind(world, () =>
      optOut(new other.AudienceClient(world.clientOptions)),
    );

    expect(result).toMatchObject({ status: "superseded", reason: "process" });
    expect(consent).toBe("UNSUBSCRIBED");
  });

  it("another client, and is under way as the row would leave", async () => {
    const world = createWorld();
    let isSent = false;
    let open = () => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    const web = world.clientWith({
      fetch: async (url, init) => {
        isSent = true;
        await opened;
        return await world.mock.fetch(url, init);
      },
    });
    let written: PromiseLike<unknown> | undefined;

    const { result } = await runBehind(world, async () => {
      written = optOut(web);
      await until(() => isSent);
    });
    open();
    await written;

    expect(result).toMatchObject({ status: "superseded", reason: "process" });
    expect(world.mock.requests).toHaveLength(1);
  });

  it("another client, while an opt-in of a third one was under way: nobody knows which came last", async () => {
    const world = createWorld();
    const opened = deferred();
    const slow = world.clientWith({
      fetch: async (url, init) => {
        const response = await world.mock.fetch(url, init);
        await opened.promise;
        return response;
      },
    });

    const { result, consent } = await runBehind(world, async () => {
      const optIn = slow.v1.customers.upsert({ ...ada, email_opt_in: "SUBSCRIBED" });
      await until(() => world.mock.requests.length === 1);
      await optOut(world.clientWith());
      opened.resolve();
      await optIn;
    });

    expect([result.status, consent]).toEqual(["superseded", "UNSUBSCRIBED"]);
  });
});

describe("A row is sent although an opt-out was written", () => {
  it.each<[string, (world: World) => PromiseLike<unknown>]>([
    [
      "in another organization through a view with its key",
      ({ audience }) => optOut(audience.withOptions({ apiKey: otherKey })),
    ],
    [
      "in another organization by another client",
      ({ clientWith }) => optOut(clientWith({ apiKey: otherKey })),
    ],
    [
      "at another service with the same key",
      ({ clientWith }) =>
        optOut(
          clientWith({
            baseUrl: "https://staging.example",
            baseUrlV2: "https://staging.example",
            fetch: async () => profileOf("staging"),
          }),
        ),
    ],
    [
      "through another key function",
      ({ clientWith }) =>
        optOut(clientWith({ apiKey: () => key2, fetch: async () => profileOf("elsewhere") })),
    ],
    [
      "through a key function that fails, so that nothing is written",
      async ({ clientWith }) => {
        const away = (): never => {
          throw new Error("the secrets are away");
        };
        await expect(optOut(clientWith({ apiKey: away }))).rejects.toThrow(/apiKey function failed/);
      },
    ],
    ["of another contact", ({ clientWith }) => optOut(clientWith(), row(1))],
  ])("%s", async (_, write) => {
    const world = createWorld();

    const { result, consent } = await runBehind(world, () => write(world));

    expect(result.status).toBe("succeeded");
    expect(world.mock.organization("acme").contacts.find(({ email }) => email === ada.email)).toMatchObject({
      email_opt_in: "SUBSCRIBED",
    });
    expect(consent).toBeDefined();
  });

  it("before the run began", async () => {
    const world = createWorld();
    await optOut(world.clientWith());

    const { result, consent } = await runBehind(world, () => Promise.resolve());

    expect([result.status, consent]).toEqual(["succeeded", "SUBSCRIBED"]);
  });

  it("by another row of the run", async () => {
    const { audience, mock } = createWorld();
    const items: Row[] = [{ ...ada, email_opt_in: "UNSUBSCRIBED" }, ada];

    const summary = await audience.bulk(
      items,
      (item, request) => audience.v1.customers.upsert(item, request),
      {
        concurrency: 1,
      },
    );

    expect(summary).toMatchObject({ succeeded: 2 });
    expect(mock.organization("acme").contacts).toMatchObject([{ email_opt_in: "SUBSCRIBED" }]);
  });
});

it("A view with another organization's key guards its own organization's rows", async () => {
  const world = createWorld();
  const globex = world.audience.withOptions({ apiKey: otherKey });
  const upsert = (item: Row, request: BulkRequest) => globex.v1.customers.upsert(item, request);
  async function* source() {
    await optOut(world.clientWith({ apiKey: otherKey }));
    await optOut(world.audience, row(1));
    yield* rows(2);
  }

  const { results } = await collectRun(globex.bulk(source(), upsert, { concurrency: 1 }));

  expect(results).toMatchObject([{ status: "superseded", reason: "process" }, { status: "succeeded" }]);
  expect(world.mock.organization("globex").contacts).toMatchObject([
    { email: ada.email, email_opt_in: "UNSUBSCRIBED" },
    { email: row(1).email, email_opt_in: "SUBSCRIBED" },
  ]);
});

describe("With a checkpoint an opt-out of another client", () => {
  /** A run that is killed after another client's opt-out. Returns what is left, and another process. */
  async function killedRun() {
    const world = createWorld();
    const checkpoint = new MemoryCheckpoint();
    const options = { key, organization: "acme", checkpoint };
    let isRead = false;
    // It stands still until the process is killed.
    const source: AsyncIterable<Row> = {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          isRead = true;
          return new Promise<never>(() => {});
        },
      }),
    };
    const stop = new AbortController();
    const run = world.audience.bulk(source, async () => {}, { ...options, signal: stop.signal });
    const ended = collectRun(run);
    await until(() => isRead);
    await optOut(world.clientWith());
    const left = checkpoint.copy();
    stop.abort();
    await ended;
    // Of another process: this one would see what the process has written, even if it were not recorded.
    const next = world.clientWith({ apiKey: key2 });
    const upsert = (item: Row, request: BulkRequest) => next.v1.customers.upsert(item, request);
    const resumed = (items: readonly Row[]) =>
      collectRun(next.bulk(items, upsert, { ...options, checkpoint: left }));
    return { ...world, left, resumed };
  }

  it("is recorded without the contact's names", async () => {
    const { left } = await killedRun();

    expect(left.lines.join()).toContain("UNSUBSCRIBED");
    expect(left.lines.join()).not.toMatch(/row-0|example\\.com/);
  });

  it("binds the run that goes on after a kill", async () => {
    const { mock, resumed } = await killedRun();

    const { results } = await resumed(rows(2));

    expect(results).toMatchObject([
      { key: ada.email, status: "superseded", reason: "process" },
      { status: "succeeded" },
    ]);
    expect(mock.organization("acme").contacts[0]).toMatchObject({ email_opt_in: "UNSUBSCRIBED" });
  });

  it("supersedes its row again, at no cost, while the row does not change", async () => {
    const { mock, resumed } = await killedRun();
    await resumed([ada]);
    const { length } = mock.requests;

    const { results } = await resumed([ada]);

    expect(results).toEqual([
      { index: 0, key: ada.email, item: ada, status: "superseded", reason: "process" },
    ]);
    expect(mock.requests).toHaveLength(length);
  });
});

/** The answer of another service. */
function profileOf(id: string): Response {
  return Response.json({ data: { type: "profile", id, attributes: {} } });
}
