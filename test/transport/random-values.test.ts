import { AudienceClient, type ClientOptions, RateLimiter } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

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
