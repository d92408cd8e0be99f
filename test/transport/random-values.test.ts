import { AudienceClient, type ClientOptions, RateLimiter, write } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MemoryCheckpoint } from "../bulk/memory-checkpoint.ts";
import { failureOf } from "./failure.ts";

describe("Before a read is sent", () => {
  // Next.js ends the build of a page that asks for one of these before it has fetched anything.
  let isForbidden = false;
  const refuse = (name: string) => {
    if (isForbidden) throw new Error(`asked for ${name}`);
  };
  const mock = createMockService({
    organizations: [
      {
        id: "o",
        apiKeys: ["k"],
        appId: "a",
        lists: [{ id: "news", name: "News" }],
        contacts: [{ email: "ada@example.com" }],
      },
    ],
  });

  beforeEach(() => {
    const { randomUUID, getRandomValues } = crypto;
    const { random } = Math;
    const { now } = Date;
    vi.spyOn(crypto, "randomUUID").mockImplementation(() => {
      refuse("an id");
      return randomUUID.call(crypto);
    });
    vi.spyOn(crypto, "getRandomValues").mockImplementation((values) => {
      refuse("random bytes");
      return getRandomValues.call(crypto, values);
    });
    vi.spyOn(Math, "random").mockImplementation(() => {
      refuse("a random number");
      return random();
    });
    vi.spyOn(Date, "now").mockImplementation(() => {
      refuse("the time");
      return now();
    });
    const construct: ProxyHandler<DateConstructor>["construct"] = (date, args, itself) => {
      refuse("a Date");
      const made: unknown = Reflect.construct(date, args, itself);
      return made as Date;
    };
    vi.stubGlobal("Date", new Proxy(Date, { construct }));
  });

  afterEach(() => {
    isForbidden = false;
    vi.unstubAllGlobals();
  });

  /** Permits all that the mock needs. */
  async function fetch(...request: Parameters<typeof mock.fetch>): Promise<Response> {
    isForbidden = false;
    const response = await mock.fetch(...request);
    isForbidden = true;
    return response;
  }

  it.each<[string, () => ClientOptions["rateLimiter"]]>([
    ["with the limiter of the process", () => undefined],
    ["while it waits", () => new RateLimiter({ windows: [{ limit: 1, intervalMs: 20 }] })],
  ])("A read asks for no random value and no time of day before it is sent, %s", async (_, limiterOf) => {
    const [contact] = mock.organization("o").contacts;
    mock.reset();
    isForbidden = true;
    const rateLimiter = limiterOf();
    const audience = new AudienceClient({ ...mock.clientOptions, fetch, rateLimiter, logger: console });

    const lists = await audience.v2.lists.list();
    const profile = await audience.v1.customers.get(contact?.id ?? "");
    const profiles = await audience.v1.customers.list().toArray();

    expect(lists.items).toMatchObject([{ uuid: "news" }]);
    expect(profile).toMatchObject({ attributes: { email: "ada@example.com" } });
    expect(profiles).toHaveLength(1);
    expect(mock.requests.map(({ status }) => status)).toEqual([200, 200, 200]);
  });
});

describe("A page without TLS", () => {
  const contact = { email: "ada@example.com" };
  const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

  // A page without TLS has neither `randomUUID` nor `subtle`, and no page has the modules of Node.
  beforeEach(() => {
    vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
    const getRandomValues = crypto.getRandomValues.bind(crypto);
    vi.stubGlobal("crypto", { getRandomValues });
  });
  afterEach(() => void vi.unstubAllGlobals());

  it("On an insecure origin every event has an identifier of its own, the same in each attempt", async () => {
    const mock = createMockService({ faults: [{ kind: "500-after", times: 1 }] });
    const { v1 } = new AudienceClient(mock.clientOptions);
    await v1.events.send({ eventName: "order placed", contact });
    await v1.events.send({ eventName: "order placed", contact });
    const sent = mock.requests.map(({ body }) => (body as { uniqueIdentifier: string }).uniqueIdentifier);

    expect(sent).toEqual([expect.stringMatching(UUID), sent[0], expect.stringMatching(UUID)]);
    expect(sent[2]).not.toBe(sent[0]);
    expect(mock.organization("mock-organization").events).toHaveLength(2);
  });

  it("On an insecure origin a call has an id for its hooks, and rows without a checkpoint are sent", async () => {
    const mock = createMockService();
    const ids: string[] = [];
    const hooks = { onResponse: ({ requestId }: { requestId: string }) => void ids.push(requestId) };
    const { bulk } = new AudienceClient({ ...mock.clientOptions, hooks });
    const result = await bulk([contact], (row) =>
      write.v1.events.send({ eventName: "order placed", contact: row }),
    );

    expect(ids).toEqual([expect.stringMatching(UUID)]);
    expect(result).toMatchObject({ succeeded: 1 });
  });

  it("On an insecure origin a checkpoint is refused, with the reason", async () => {
    const mock = createMockService();
    const { bulk } = new AudienceClient(mock.clientOptions);
    const checkpoint = new MemoryCheckpoint();
    const run = bulk([contact], (row) => write.v1.customers.upsert(row), { checkpoint });
    const error = await failureOf(run);

    const message = expect.stringContaining("crypto.subtle");
    expect(error).toMatchObject({ code: "configuration", message });
    expect(mock.requests).toEqual([]);
  });
});
