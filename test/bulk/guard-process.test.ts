// "process": a call of this process since the run began, by any client that was given the same base URL and the same key or key
// function, that refuses, may have, or is under way to.
import { AudienceClient, type BulkOptions, RateLimiter, type V1Contact, write } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it, vi } from "vitest";
import {
  collectRun,
  deferred,
  gated,
  passUntil,
  passUntilSettled,
  row,
  until,
  upsert,
  useFakeTime,
  type Row,
  v2Contact,
} from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";
import { endOf, snapshotOf } from "./people.ts";

type ClientOptions = NonNullable<ConstructorParameters<typeof AudienceClient>[0]>;
type World = ReturnType<typeof createWorld>;
type Act = (world: World) => unknown;

const ada = row(0);
const { email } = ada;
const phone = "+15550100";
const [key1, key2, otherKey] = ["mock-key-of-acme-1", "mock-key-of-acme-2", "mock-key-of-globex"] as const;

/** A service with two organizations, and the client of a job. */
function createWorld(options: Partial<ClientOptions> = {}) {
  const mock = createMockService({
    organizations: [
      { id: "acme", apiKeys: [key1, key2], appId: "app", lists: [{ id: "list", name: "List" }] },
      { id: "globex", apiKeys: [otherKey], appId: "app" },
    ],
  });
  const clientOptions: ClientOptions = { ...mock.clientOptions, apiKey: key1, maxRetries: 0, ...options };
  const audience = new AudienceClient(clientOptions);
  const clientWith = (other: Partial<ClientOptions> = {}) =>
    new AudienceClient({ ...clientOptions, ...other });
  return { mock, audience, clientOptions, clientWith };
}

/** How Ada's row ends, which waits until `act` has ended, and her consent after it. */
async function rowBehind(
  world: World,
  act: Act,
  options: BulkOptions<V1Contact> = {},
  item: V1Contact = ada,
) {
  async function* source() {
    await act(world);
    yield item;
  }
  const toWrite = (contact: V1Contact) => write.v1.customers.upsert(contact);
  const { results, error } = await collectRun(world.audience.bulk(source(), toWrite, options));
  expect(error).toBeUndefined();
  const contact = world.mock.organization("acme").contacts.find((each) => each.email === email);
  return [endOf(results[0]!), contact?.email_opt_in];
}

const kept = ["succeeded email:process", "UNSUBSCRIBED"];
const sent = ["succeeded", "SUBSCRIBED"];

const say = ({ v1 }: Pick<AudienceClient, "v1">, email_opt_in: Row["email_opt_in"], contact: Row = ada) =>
  v1.customers.upsert({ ...contact, email_opt_in });
const optOut = (client: Pick<AudienceClient, "v1">, contact?: Row) => say(client, "UNSUBSCRIBED", contact);
const optOutByV2 = ({ v2 }: AudienceClient) => v2.contacts.upsert(v2Contact(email, "unsubscribed"));

const byClient =
  (options?: Partial<ClientOptions>): Act =>
  ({ clientWith }) =>
    optOut(clientWith(options));

/** Calls with these words, one after the other, each of which may meet a fault. */
const calls =
  (
    ...said: (readonly [word: Row["email_opt_in"], fault?: "reset-before" | "reset-after" | "redirect"])[]
  ): Act =>
  async ({ audience, mock }) => {
    for (const [word, kind] of said) {
      if (kind) mock.addFault({ kind, times: 1 });
      const call = say(audience, word);
      if (kind) await expect(call).rejects.toHaveProperty("outcome");
      else await call;
    }
  };

it.each<[string, Act]>([
  [
    "v1.contactGroups.addContact",
    ({ audience: { v1 } }) => v1.contactGroups.addContact("list", { email, email_opt_in: "UNSUBSCRIBED" }),
  ],
  ["v2.contacts.upsert", ({ audience }) => optOutByV2(audience)],
  ["audience.send", ({ audience }) => audience.send(upsert({ ...ada, email_opt_in: "UNSUBSCRIBED" }))],
  [
    "a custom request for a documented path",
    ({ audience: { v1 } }) =>
      v1.request({
        method: "POST",
        path: "/api/v1/customer/create",
        body: { email, email_opt_in: "UNSUBSCRIBED" },
      }),
  ],
  [
    "a row of another run",
    ({ audience }) => audience.bulk([{ ...ada, email_opt_in: "UNSUBSCRIBED" as const }], upsert),
  ],
  [
    "a call that names the contact by another spelling",
    ({ audience }) => optOut(audience, { ...ada, email: email.toUpperCase() }),
  ],
  [
    "a call of which only the answer shows that it is the same contact",
    async ({ audience: { v1 } }) => {
      await v1.customers.upsert({ email, email_opt_in: "SUBSCRIBED", phone, phone_opt_in: "SUBSCRIBED" });
      await v1.customers.upsert({ phone, phone_opt_in: "SUBSCRIBED", email_opt_in: "UNSUBSCRIBED" });
    },
  ],
  [
    "a call that states two words of its channel",
    ({ audience: { v2 } }) => {
      const [first, second] = ["unsubscribed", "subscribed"].map((status) => v2Contact(email, status));
      return v2.contacts.upsert({
        ...first!,
        identifiers: [...second!.identifiers, ...first!.identifiers],
      });
    },
  ],
  ["a call whose outcome is unknown", calls(["UNSUBSCRIBED", "reset-after"])],
  ["such a call after an opt-in", calls(["SUBSCRIBED"], ["UNSUBSCRIBED", "reset-after"])],
  [
    "a call before a custom one that leaves the consent to the service",
    async ({ audience }) => {
      await optOut(audience);
      const request = { path: "/api/v1/contact-groups/list/contacts", body: { email } };
      await audience.v1.request({ method: "POST", ...request }, { consent: "service-decides" });
    },
  ],
  ["a call before one that was refused", calls(["UNSUBSCRIBED"], ["SUBSCRIBED", "redirect"])],
  [
    "a call before an opt-in whose outcome is unknown",
    calls(["UNSUBSCRIBED"], ["SUBSCRIBED", "reset-before"]),
  ],
])("A row is sent with the refusal that was written by %s", async (_, act) => {
  expect(await rowBehind(createWorld(), act)).toEqual(kept);
});

it("A call whose outcome is unknown, and that names the number alone, refuses the e-mail of the row with that number", async () => {
  const both = { ...ada, phone, phone_opt_in: "SUBSCRIBED" } as const;
  const act: Act = async ({ audience, mock }) => {
    await audience.v1.customers.upsert(both);
    mock.addFault({ kind: "reset-after", times: 1 });
    const byNumber = audience.v1.customers.upsert({ phone, email_opt_in: "UNSUBSCRIBED" });
    await expect(byNumber).rejects.toHaveProperty("outcome", "unknown");
  };

  expect(await rowBehind(createWorld(), act, {}, both)).toEqual(kept);
});

describe("A row is sent as it is after", () => {
  it.each<[string, Act]>([
    ["another word that follows the refusal", calls(["UNSUBSCRIBED"], ["NON_SUBSCRIBED"])],
    ["a refusal that was surely not applied", calls(["UNSUBSCRIBED", "redirect"])],
    [
      "a custom request of which only the contact is known",
      ({ audience: { v1 } }) =>
        v1.request({ method: "PUT", path: "/api/v1/new", contact: { email } }).catch(() => 0),
    ],
  ])("%s", async (_, act) => {
    expect(await rowBehind(createWorld(), act)).toEqual(sent);
  });

  it("a refusal of a stranger whose phone is the same text without a digit", async () => {
    const noPhone = { phone: "call me" } as const;
    const stranger = { ...row(1), ...noPhone, phone_opt_in: "UNSUBSCRIBED" } as const;
    const item: V1Contact = { ...ada, ...noPhone, phone_opt_in: "SUBSCRIBED" };

    const end = await rowBehind(
      createWorld(),
      ({ audience }) => audience.v1.customers.upsert(stranger),
      {},
      item,
    );

    expect(end).toEqual(sent);
  });

  it("a refusal before the run began", async () => {
    const world = createWorld();
    await optOut(world.audience);

    expect(await rowBehind(world, () => {})).toEqual(sent);
  });
});

describe("A call that is under way", () => {
  it.each<[string, begins: "before" | "in"]>([
    ["to refuse as the row would leave counts", "in"],
    ["to refuse as the run begins counts", "before"],
  ])("%s", async (_, begins) => {
    const world = createWorld();
    const { fetch, open, sent: requests } = gated(world.mock.fetch);
    const web = world.clientWith({ fetch });
    let written: PromiseLike<unknown> | undefined;
    const begin = async () => {
      written = optOut(web).then((profile) => profile);
      await until(() => requests.length === 1);
    };
    if (begins === "before") await begin();

    const ended = rowBehind(world, begins === "before" ? () => {} : begin);
    await until(() => requests.length === 1);
    open();
    await written;

    expect(await ended).toEqual(kept);
  });

  it("to subscribe beside a refusal does not lift it: nobody knows which came last", async () => {
    const world = createWorld();
    const opened = deferred();
    const slow = world.clientWith({
      fetch: async (url, init) => {
        const response = await world.mock.fetch(url, init);
        await opened.promise;
        return response;
      },
    });

    const end = await rowBehind(world, async () => {
      const optIn = say(slow, "SUBSCRIBED").then((profile) => profile);
      await until(() => world.mock.requests.length === 1);
      await optOut(world.clientWith());
      opened.resolve();
      await optIn;
    });

    expect(end).toEqual(kept);
  });
});

it("A refusal that a call writes while the row has lost its permit to a slow checkpoint is not lost", async () => {
  await useFakeTime();
  const puts: string[] = [];
  class SlowCheckpoint extends MemoryCheckpoint {
    override async put(name: string, line: string, flush: boolean): Promise<void> {
      puts.push(name);
      if (name.startsWith("row:") && line.startsWith('["sent"'))
        await new Promise((stored) => setTimeout(stored, 1_500));
      await super.put(name, line, flush);
    }
  }
  const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 10_000 }], reserve: 0 });
  const world = createWorld({ rateLimiter });

  const ended = rowBehind(world, () => {}, { key: () => email, checkpoint: new SlowCheckpoint() });
  await passUntil(() => puts.length === 2);
  // It takes the permit that the row gives back.
  const other = world.audience.v1.contactGroups.get("list").then((list) => list);
  await passUntil(() => world.mock.requests.length === 1 && rateLimiter.usage().queued === 1);
  await optOut(world.clientWith({ rateLimiter: false }));

  expect(await passUntilSettled(ended)).toEqual(kept);
  await other;
});

let current: string = key1;
const noV2 = { baseUrlV2: undefined, appId: undefined };
const hasV2: Act = ({ clientWith, mock }) =>
  optOutByV2(clientWith({ baseUrlV2: mock.clientOptions.baseUrlV2, appId: "app" }));
it.each<[string, client: Partial<ClientOptions>, Act]>([
  ["another client with the key", {}, byClient()],
  ["a view of the client", {}, ({ audience }) => optOut(audience.withOptions({ timeoutMs: 1_000 }))],
  ["another client with the same key function", { apiKey: () => key1 }, byClient()],
  ["a function that gives the run's key", {}, byClient({ apiKey: () => key1 })],
  [
    "a function that gives the run's key since its rotation",
    { apiKey: key2 },
    async ({ clientWith }) => {
      const web = clientWith({ apiKey: () => current });
      await web.v1.contactGroups.get("list");
      current = key2;
      await optOut(web);
    },
  ],
  ["a client that shares the key of one family alone", {}, byClient({ apiKeyV2: key2 })],
  ["the other family of another client", {}, ({ clientWith }) => optOutByV2(clientWith())],
  ["the family that the run's client does not have", noV2, hasV2],
  [
    "a client whose base URL is written otherwise",
    {},
    ({ clientOptions, clientWith }) => optOut(clientWith({ baseUrl: `${String(clientOptions.baseUrl)}/` })),
  ],
  [
    "the other copy of the package",
    {},
    async ({ clientOptions }) => {
      vi.resetModules();
      const other = await import("audience-sdk");
      expect(other.AudienceClient).not.toBe(AudienceClient);
      await optOut(new other.AudienceClient(clientOptions));
    },
  ],
])("A refusal is known by the call of %s", async (_, client, act) => {
  expect(await rowBehind(createWorld(client), act)).toEqual(kept);
});

const elsewhere = async () => Response.json({ data: { type: "profile", id: "elsewhere", attributes: {} } });
const staging = { baseUrl: "https://staging.example", baseUrlV2: "https://staging.example" };
it.each<[string, Act]>([
  ["by another organization's key", byClient({ apiKey: otherKey })],
  [
    "by a view with another organization's key",
    ({ audience }) => optOut(audience.withOptions({ apiKey: otherKey })),
  ],
  ["at another service", byClient({ ...staging, fetch: elsewhere })],
  ["by a key function that gives another key", byClient({ apiKey: () => key2, fetch: elsewhere })],
])("A refusal is not of the run's organization %s", async (_, act) => {
  expect(await rowBehind(createWorld(), act)).toEqual(sent);
});

describe("Of the service's word and the process's the newer counts:", () => {
  const asked = (world: World) => world.mock.asksAgain(email, { organization: "acme" });

  it.each([
    ["a call refuses after the look", "SUBSCRIBED", "UNSUBSCRIBED", kept],
    ["a call brings back after the look", "UNSUBSCRIBED", "SUBSCRIBED", sent],
  ] as const)("%s, while the row waits for the rate limit", async (_, shown, said, expected) => {
    await useFakeTime();
    const rateLimiter = new RateLimiter({ windows: [{ limit: 2, intervalMs: 10_000 }], reserve: 0 });
    const world = createWorld({ rateLimiter });
    const free = world.clientWith({ rateLimiter: false });
    await say(free, shown);
    const snapshot = await passUntilSettled(snapshotOf(free));
    await world.audience.v1.contactGroups.get("list");

    const ended = rowBehind(world, () => {}, { snapshot });
    await passUntil(
      () => rateLimiter.usage().queued === 1 && world.mock.requests.at(-1)?.operation === "v1.customers.get",
    );
    asked(world);
    await say(free, said);

    expect(await passUntilSettled(ended)).toEqual(expected);
    expect(world.mock.resubscriptions).toEqual([]);
  });
});

it("A later word about one address lifts no refusal of another one that the write names", async () => {
  const { audience, mock } = createWorld();
  const other = row(1).email;
  async function* source() {
    await optOut(audience);
    await say(audience, "SUBSCRIBED", row(1));
    const [first, second] = [email, other].map((address) => v2Contact(address, "subscribed"));
    yield { ...first!, identifiers: [...second!.identifiers, ...first!.identifiers] };
  }

  const { results } = await collectRun(audience.bulk(source(), (each) => write.v2.contacts.upsert(each)));

  expect(results.map(endOf)).toEqual(["succeeded email:process"]);
  expect(mock.resubscriptions).toEqual([]);
});
