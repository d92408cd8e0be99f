import { AudienceClient, type FetchInit, isAudienceError, write } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { offline, offlineFetch, v2Contact } from "./fixture.ts";

/** Runs with a property that all objects inherit, as after an attack on a parser of the process. */
async function withInherited<T>(name: string, value: unknown, run: () => T | Promise<T>): Promise<T> {
  // oxlint-disable-next-line no-extend-native -- the attack itself
  Object.defineProperty(Object.prototype, name, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  });
  try {
    return await run();
  } finally {
    Reflect.deleteProperty(Object.prototype, name);
  }
}

const email = "ada@example.com";
const stranger = "eve@example.com";
const refuse = () => {
  throw new Error("was called");
};

type Call = (client: AudienceClient) => PromiseLike<unknown>;
const calls: Readonly<Record<string, Call>> = {
  upsert: ({ v1 }) => v1.customers.upsert({ email }),
  get: ({ v1 }) => v1.customers.get("c-1"),
  list: ({ v1 }) => v1.customers.list().toArray(),
  groups: ({ v1 }) => v1.contactGroups.list({}, {}).toArray({}),
  addContact: ({ v1 }) => v1.contactGroups.addContact("g-1", { email, email_opt_in: "NON_SUBSCRIBED" }),
  "addContact without consent": ({ v1 }) => v1.contactGroups.addContact("g-1", { email } as never),
  send: ({ v1 }) => v1.events.send({ eventName: "e", uniqueIdentifier: "1", contact: { email } }),
  "send without a contact": ({ v1 }) =>
    v1.events.send({ eventName: "e", uniqueIdentifier: "1", contact: {} }),
  "send of defined events": ({ v1 }) =>
    v1.events.define({ e: null }).send("e", { uniqueIdentifier: "1", contact: { email } }),
  "v2 upsert": ({ v2 }) => v2.contacts.upsert(v2Contact),
  "v2 upsert without a channel": ({ v2 }) =>
    v2.contacts.upsert({
      ...v2Contact,
      identifiers: [{ ...v2Contact.identifiers[0], channels: {} }],
    } as never),
  "v2 list": ({ v2 }) => v2.lists.list().toArray(),
  request: ({ v1 }) => v1.request({ method: "GET", path: "/api/v1/new" }),
  "request of a write": ({ v1 }) => v1.request({ method: "PUT", path: "/api/v1/new", contact: { email } }),
  "request of a write to nobody": ({ v1 }) => v1.request({ method: "PUT", path: "/api/v1/new", contact: {} }),
  "request that adds a contact": ({ v1 }) =>
    v1.request({ method: "POST", path: "/api/v1/contact-groups/g/contacts", body: { email } }),
  "request that adds text": ({ v1 }) =>
    v1.request({ method: "POST", path: "/api/v1/contact-groups/g/contacts", body: "x" }),
  "write as a value": (client) => client.send(write.v1.customers.upsert({ email })),
  "write of an event without an id": (client) =>
    client.send(write.v1.events.send({ eventName: "e", contact: { email } })),
  "write without consent": (client) =>
    client.send({ operation: "v1.contactGroups.addContact", listId: "g", contact: { email } } as never),
  estimate: async (client) => client.rateLimiter?.usage(),
  view: (client) => client.withOptions({}).v1.customers.get("c-1"),
};

/** All that leaves, and how each call ends. */
async function traffic(): Promise<unknown[]> {
  const seen: unknown[] = [];
  const fetch = async (url: string, { method, headers, body, redirect }: FetchInit) => {
    seen.push({ url, method, headers, body, redirect });
    return await offlineFetch(url, undefined as never);
  };
  const client = new AudienceClient({ ...offline, fetch });
  for (const [name, call] of Object.entries(calls)) {
    const end = await Promise.resolve(call(client)).then(
      (value: unknown) => JSON.stringify(value),
      (error: unknown) => (isAudienceError(error) ? error.message : error),
    );
    seen.push(`${name}: ${String(end)}`);
  }
  await client.close({});
  return seen;
}

const named = (names: string, value: unknown) =>
  names.split(" ").map((name): [name: string, value: unknown] => [name, value]);

const inherited = [
  ...named("baseUrl baseUrlV2", "https://evil.example"),
  ...named("apiKey apiKeyV2 appId userAgent eventName uniqueIdentifier contactUUID first_name other", "evil"),
  ...named("timeoutMs deadlineMs maxResponseBytes", 1),
  ...named("maxRetries page limit", 7),
  ...named("maxWaitMs maxQueued readAhead max reserve", 0),
  // `Request` of newer runtimes reads it too: a value that it takes.
  ...named("priority", "high"),
  ...named("parsePage fetch logger onRequest warn", refuse),
  ...named("dangerouslyAllowBrowser allowInsecureHttp repeatable drain is_suppressed double_opt_in", true),
  ...named("email_opt_in phone_opt_in type", "SUBSCRIBED"),
  ...named("triggerWelcomeEmail", true),
  ...named("email phone status createdAt", stranger),
  ...named("custom_properties eventData query body params options headers channels", { evil: "1" }),
  ...named("contact", { email: stranger }),
  ...named("hooks", { onRequest: refuse }),
  ...named("rateLimiter", { windows: [] }),
  ...named("isRateLimited", () => true),
  ...named("signal", AbortSignal.abort()),
  ...named("consent", "service-decides"),
  ...named("logLevel", "debug"),
  ...named("issues", [1]),
];

describe("A property that all objects inherit", () => {
  it.each(inherited)("changes no option, no consent and no input: %s", async (name, value) => {
    const expected = await traffic();
    expect(expected).toHaveLength(35);

    expect(await withInherited(name, value, traffic)).toEqual(expected);
  });

  it.each(["baseUrl", "allowInsecureHttp"])("gives a constructor no %s", async (name) => {
    const insecure = { ...offline, baseUrl: "http://far.example", baseUrlV2: undefined };
    const options = name === "baseUrl" ? { apiKey: "k" } : insecure;
    const value = name === "baseUrl" ? "https://evil.example" : true;

    await expect(withInherited(name, value, () => new AudienceClient(options))).rejects.toThrow(name);
  });

  it("is an option if a class below Object.prototype has it", async () => {
    class Shared {
      get baseUrl(): string {
        return "https://shared.example";
      }
    }
    const options = Object.assign(new Shared(), {
      apiKey: "k",
      rateLimiter: false,
      fetch: offlineFetch,
    } as const);

    const { response } = await new AudienceClient(options).v1.customers.get("c-1").withResponse();

    expect(response.url).toBe("https://shared.example/api/v1/customer/c-1");
  });
});
