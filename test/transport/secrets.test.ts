import { tracingChannel } from "node:diagnostics_channel";
import { inspect } from "node:util";
import {
  type ApiError,
  AudienceClient,
  type ClientOptions,
  RateLimiter,
  type RequestEvent,
  V1Client,
  V2Client,
  write,
} from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { v2Contact } from "../bulk/fixture.ts";
import { failureOf, thrownBy } from "./failure.ts";
import { mockedClient, recorded, serve, within } from "./fixture.ts";

const key = 'sk_live/9fQ2+Zr7=Wv4"Lk8&Tn1';
const keyV2 = "second-family-key-5512-0099";
const digits = "7391846250173948";
const email = "ada.lovelace@example.com";
const phone = "+15550123456";
const contact = { email, phone, email_opt_in: "SUBSCRIBED", phone_opt_in: "SUBSCRIBED" } as const;
const event = { eventName: "order placed", uniqueIdentifier: "order-1", contact: { email } };

/** Every eight consecutive characters of a key, plain and as in a URL or in JSON. */
function stretches(secret: string): string[] {
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)].flatMap((form) =>
    Array.from({ length: form.length - 7 }, (_, at) => form.slice(at, at + 8)),
  );
}

/** All strings that are reachable from a value: properties of any kind, prototypes' getters, causes, Headers, Maps. */
function reachable(root: unknown): string {
  const texts: string[] = [];
  const seen = new Set<object>();
  const open: unknown[] = [root];
  for (let value = open.pop(); open.length > 0 || value !== undefined; value = open.pop()) {
    if (typeof value === "string" || typeof value === "number" || typeof value === "symbol")
      texts.push(String(value));
    if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value))
      continue;
    seen.add(value);
    if (value instanceof Headers || value instanceof Map || value instanceof Set)
      open.push(...[...(value as Iterable<unknown>)].flat());
    for (const name of Reflect.ownKeys(value)) {
      texts.push(String(name));
      const property = Reflect.getOwnPropertyDescriptor(value, name);
      open.push(property?.get ? Reflect.get(value, name) : property?.value);
    }
    if (typeof value === "function") texts.push(Function.prototype.toString.call(value));
  }
  return texts.join("\n");
}

/** Everything that a program can see of a value. */
function everythingOf(value: unknown): string {
  const shown = inspect(value, {
    depth: Infinity,
    showHidden: true,
    maxStringLength: Infinity,
    maxArrayLength: Infinity,
    getters: true,
  });
  return [shown, JSON.stringify(value) ?? "", String(value), reachable(value)].join("\n");
}

function expectNoSecret(value: unknown, secrets: readonly string[] = [key, keyV2]): void {
  const everything = everythingOf(value).toLowerCase();
  const isShown = (stretch: string) => everything.includes(stretch.toLowerCase());
  expect(secrets.flatMap(stretches).filter(isShown)).toEqual([]);
}

/** Everything that loggers, hooks and subscribers receive. */
function listening() {
  const logged: unknown[] = [];
  const log = (value: unknown) => void logged.push(structuredClone(value));
  for (const channel of ["audience-sdk:call", "audience-sdk:request"])
    recorded(tracingChannel(channel), "", logged);
  const logger = { debug: log, info: log, warn: log, error: log };
  const hooks = { onRequest: log, onResponse: log, onRetry: log, onThrottle: log };
  return { logged, options: { logger, logLevel: "debug", hooks } satisfies ClientOptions };
}

const base = {
  baseUrl: "https://api.example.com",
  baseUrlV2: "https://api.example.com",
  appId: "app-id-public",
  rateLimiter: false,
} as const;
const client = (fetch: ClientOptions["fetch"], options: ClientOptions = {}) =>
  new AudienceClient({ ...base, apiKey: key, apiKeyV2: keyV2, fetch, maxRetries: 0, ...options });

/** A service that echoes the key in every possible way. */
const echoes: Record<string, (status: number) => Response> = {
  "in a text": (status) => new Response(`invalid key ${key}; and ${keyV2}.`, { status }),
  "in its message": (status) => Response.json({ message: `invalid key ${key}` }, { status }),
  "in part": (status) =>
    Response.json({ message: `invalid key ${key.slice(0, 10)}…${key.slice(-9)}` }, { status }),
  "as a name": (status) => Response.json({ [key]: { [keyV2]: 1 }, nested: [{ [key]: [key] }] }, { status }),
  "as a number": (status) => new Response(`{"n":${digits},"m":[${digits.slice(2, 14)}]}`, { status }),
  "URL-encoded": (status) =>
    Response.json({ url: `https://x.example/?k=${encodeURIComponent(key)}` }, { status }),
  "JSON-escaped": (status) => new Response(`{"broken": ${JSON.stringify(key)}`, { status }),
  "in broken JSON": (status) => new Response(`{"headers":{"x-api-key":"${keyV2}`, { status }),
  "in another case": (status) => new Response(`${key.toUpperCase()} ${keyV2.toUpperCase()}`, { status }),
  "in HTML": (status) => new Response(`<pre>X-API-Key: ${key}\nService-Api-Key: ${keyV2}</pre>`, { status }),
  "deeply nested": (status) =>
    new Response("[".repeat(3_000) + JSON.stringify(keyV2) + "]".repeat(3_000), { status }),
  ...Object.fromEntries(
    [0, 1, 7, 8, 10, 18].map((before) => [
      `${before} characters before the edge of what is shown`,
      (status: number) => new Response("x".repeat(64 * 1024 - before) + keyV2 + key, { status }),
    ]),
  ),
  "many times": (status) => new Response(`${keyV2}${keyV2}${key}${key}`.repeat(200), { status }),
  "in headers": (status) =>
    new Response("{}", {
      status,
      headers: { "x-echo": key, "set-cookie": `k=${keyV2}`, [`x-${keyV2}`]: "1", "retry-after": digits },
    }),
};

describe("No error shows a key, whatever the service echoes", () => {
  const statuses = [200, 401, 429, 500];
  const cases = Object.entries(echoes).flatMap(([name, respond]) =>
    statuses.map((status) => [name, status, respond] as const),
  );

  it.each(cases)("%s, with %i", async (_, status, respond) => {
    const { logged, options } = listening();
    const audience = client(async () => respond(status), options);
    const numeric = client(async () => respond(status), { apiKey: digits, apiKeyV2: digits });

    const errors = await Promise.all([
      failureOf(audience.v1.customers.upsert(contact)),
      failureOf(audience.v2.lists.list().then(String)),
    ]);
    const ofDigits = await failureOf(numeric.v1.customers.get(email));

    expectNoSecret(errors);
    expectNoSecret(logged);
    expectNoSecret(ofDigits, [digits]);
  });

  it.each([
    `https://evil.example/?key=${encodeURIComponent(key)}&other=${keyV2}`,
    `https://evil.example/${keyV2}/x`,
    `/login#${encodeURIComponent(key)}`,
  ])("a redirect's location: %s", async (location) => {
    const error = await failureOf(
      client(async () => new Response(null, { status: 302, headers: { location } })).v1.customers.upsert(
        contact,
      ),
    );

    expectNoSecret(error);
    expect(error).toMatchObject({ code: "redirect", location: expect.stringContaining("[redacted]") });
  });
});

describe("A key is replaced by [redacted]", () => {
  const echoed = async (text: string, apiKey: string) => {
    const audience = client(async () => new Response(text, { status: 400 }), { apiKey });
    return ((await failureOf(audience.v1.customers.upsert(contact))) as ApiError).body;
  };

  it.each([
    ["alone", keyV2, "[redacted]"],
    ["between other text", `a${keyV2}b${keyV2}c`, "a[redacted]b[redacted]c"],
    ["twice in a row, as one", `${keyV2}${keyV2}.`, "[redacted]."],
    ["eight of its characters", `a ${keyV2.slice(3, 11)} b`, "a [redacted] b"],
    ["but seven", keyV2.slice(3, 10), keyV2.slice(3, 10)],
    ["but seven, in quotes too", `a "${keyV2.slice(0, 7)}"`, `a "${keyV2.slice(0, 7)}"`],
  ])("%s", async (_, text, shown) => {
    expect(await echoed(text, keyV2)).toBe(shown);
  });

  it("a shorter key is replaced as a whole", async () => {
    expect(await echoed("abc-ab-abcabc", "abc")).toBe("[redacted]-ab-[redacted]");
  });

  it("other values in JSON keep their paths and types", async () => {
    const text = `{"__proto__":["${keyV2}",1,true,null,{"n":2}],"${keyV2}":{"__proto__":"${keyV2}"}}`;

    expect(JSON.stringify(await echoed(text, keyV2))).toBe(
      '{"__proto__":["[redacted]",1,true,null,{"n":2}],"[redacted]":{"__proto__":"[redacted]"}}',
    );
  });
});

describe("No error shows a key, whatever the error of the runtime holds", () => {
  const request = { headers: { "x-api-key": key, "service-api-key": keyV2 }, body: JSON.stringify(contact) };
  const nasty = Object.assign(new TypeError(`fetch failed for ${key}`), {
    request,
    code: keyV2,
    cause: Object.assign(new Error(`${keyV2} refused`), {
      request,
      code: "ECONNRESET",
      [Symbol("kept")]: key,
    }),
  });
  nasty.name = `Error of ${keyV2}`;

  it.each([
    ["an error", nasty],
    ["an error with a nasty code", Object.assign(new Error("x"), { code: keyV2 })],
    ["an aggregate", new AggregateError([nasty, new Error(key)], key)],
    ["a text", key],
    ["an object", request],
  ])("%s", async (_, thrown) => {
    const { logged, options } = listening();
    const audience = client(async () => Promise.reject(thrown), options);

    const errors = await Promise.all([
      failureOf(audience.v1.customers.upsert(contact)),
      failureOf(audience.v2.lists.list().then(String)),
    ]);

    expectNoSecret(errors);
    expectNoSecret(logged);
  });

  it("over real sockets: reset, timeout, refused, garbled, redirect", async () => {
    const { logged, options } = listening();
    const served = await serve((outgoing, { path, headers }) => {
      const way = path.split("/").at(-1);
      if (way === "reset") outgoing.socket?.destroy();
      if (way === "nonsense") outgoing.socket?.end("HTTP/1.1 nonsense\r\n\r\n");
      if (way === "elsewhere")
        outgoing.writeHead(307, { location: `http://127.0.0.1:9/${String(headers["x-api-key"])}` }).end();
      if (way === "garbled")
        outgoing.writeHead(200, { "content-encoding": "gzip" }).end(String(headers["x-api-key"]));
    });
    const plain = "plain-key-0123456789-abcdef";
    const { v1 } = new AudienceClient({
      ...served.options,
      ...options,
      apiKey: plain,
      maxRetries: 0,
    });

    const errors = [];
    for (const way of ["reset", "nothing", "nonsense", "elsewhere", "garbled"]) {
      const timeoutMs = way === "nothing" ? 200 : 30_000;
      errors.push(await failureOf(v1.customers.get(way, { timeoutMs })));
    }

    expect(errors.map(({ code }) => code)).toEqual([
      "connection",
      "timeout",
      "connection",
      "redirect",
      "unexpected_response",
    ]);
    expectNoSecret([errors, logged], [plain]);
  });
});

describe("No object of the client shows a key", () => {
  const organization = { id: "o", apiKeys: [key], apiKeysV2: [keyV2], appId: "app" };
  it("the clients, their parts, their views, and the limiter", async () => {
    const mock = createMockService({ organizations: [organization] });
    const options = { ...mock.clientOptions, apiKey: key, apiKeyV2: keyV2, rateLimiter: new RateLimiter() };
    const audience = new AudienceClient(options);
    const view = audience.withOptions({ maxRetries: 1 });
    await audience.v1.customers.upsert(contact);

    for (const object of [
      audience,
      audience.v1,
      audience.v1.customers,
      audience.v1.events,
      audience.v1.contactGroups,
      audience.v2,
      audience.v2.lists,
      view,
      new V1Client(options),
      new V2Client(options),
      audience.rateLimiter,
    ]) {
      expectNoSecret(object);
    }
  });

  it("promises, results of withResponse(), pages and paginators", async () => {
    const mock = createMockService({ organizations: [organization] });
    const fetch = async (url: string, init: RequestInit) => {
      const response = await mock.fetch(url, init);
      const headers = {
        ...Object.fromEntries(response.headers),
        "x-echo": key,
        "x-request": JSON.stringify(init.headers),
      };
      return new Response(response.body, { status: response.status, headers });
    };
    const audience = client(fetch);

    const pending = audience.v1.customers.upsert(contact);
    const paginator = audience.v1.customers.list();
    expectNoSecret([pending, paginator]);
    const whole = await pending.withResponse();
    const page = await paginator;

    expectNoSecret([pending, whole, page, paginator]);
    expect(whole.response.headers.get("x-echo")).toBe("[redacted]");
  });

  it("a ConfigurationError that refuses one", () => {
    for (const bad of [`${key}\n`, ` ${key}`, `${key}\u00fc`, { key }, [key], Number(digits)]) {
      for (const name of ["apiKey", "apiKeyV2", "appId", "userAgent", "baseUrl", "logLevel"] as const) {
        expectNoSecret(
          thrownBy(() => new AudienceClient({ ...base, apiKey: "k", [name]: bad })),
          [key, digits],
        );
      }
    }
    expectNoSecret(
      thrownBy(() => new AudienceClient({ baseUrl: `https://${keyV2}@api.example.com`, apiKey: "k" })),
    );
    expectNoSecret(
      thrownBy(() => new AudienceClient({ ...base, headers: { authorization: `Bearer ${keyV2}\n` } })),
    );
  });
});

describe("Keys from a function", () => {
  it("are redacted, the current one and one that was rotated away", async () => {
    const keys = ["rotated-key-number-one-11", "rotated-key-number-two-22"];
    let asked = 0;
    const { logged, options } = listening();
    const audience = client(
      async () => Response.json({ message: `tried ${keys.join(" and ")}` }, { status: 401 }),
      {
        ...options,
        apiKey: async () => keys[Math.min(asked++, 1)] ?? "",
      },
    );

    const error = await failureOf(audience.v1.customers.upsert(contact));

    expect(error.request?.attempts).toBe(2);
    expectNoSecret([error, logged, audience], keys);
    expect(error.message).toContain("[redacted]");
  });

  it("are redacted in the errors of another view, too", async () => {
    const echoing = async () => Response.json({ message: `not the key ${key}` }, { status: 400 });
    const audience = client(echoing, { apiKey: () => key });
    const view = audience.withOptions({ apiKey: "key-of-the-second-view-987654321" });
    await failureOf(audience.v1.customers.get("a"));

    const error = await failureOf(view.v1.customers.get("a"));

    expect(error).toMatchObject({ code: "bad_request" });
    expectNoSecret(error);
  });

  it("leave a fixed key redacted, however many of them there were since", async () => {
    let asked = 0;
    const audience = client(
      async (url) =>
        url.includes("/v2/")
          ? Response.json({ success: true, data: { lists: [] } })
          : Response.json({ message: `no such key: ${key}` }, { status: 400 }),
      { apiKeyV2: () => `rotating-${(asked++).toString().padStart(12, "0")}` },
    );
    for (let call = 0; call < 210; call++) await audience.v2.lists.list();

    const error = await failureOf(audience.v1.customers.get("c-1"));

    expect(asked).toBe(210);
    expect(error.message).toContain("[redacted]");
    expectNoSecret(error, [key]);
  });
});

it("Log lines, hooks and channels hold no e-mail address, phone number or body", async () => {
  vi.useFakeTimers();
  const { logged, options } = listening();
  const { v1, v2 } = mockedClient(
    {
      faults: [
        { kind: "500-before", times: 1 },
        { kind: "429", times: 1, retryAfter: 20 },
        { kind: "reset-before", times: 1 },
        { kind: "truncated-json", operation: "v1.customers.get", times: 1 },
      ],
    },
    { ...options, rateLimiter: new RateLimiter() },
  );

  await within(
    120_000,
    Promise.allSettled([
      v1.customers.upsert({ ...contact, first_name: "Lovelace" }),
      v1.customers.get(email),
      v1.customers.get(phone),
      v1.contactGroups.get(email),
      v1.contactGroups.addContact(email, contact),
      v1.events.send({ ...event, eventData: { secret: "Lovelace" } }),
      v2.contacts.upsert({ ...v2Contact(email, "subscribed"), firstName: "Lovelace", listIds: [email] }),
      v1.customers.upsert({ email: "not an address of Lovelace", nonsense: email } as never),
      v1.customers.upsert(contact, { signal: AbortSignal.abort(email) }),
    ]),
  );

  const everything = everythingOf(logged).toLowerCase();
  expect(logged.length).toBeGreaterThan(40);
  for (const personal of ["ada.l", "lovelace", "%40example", "555012", "not an address", "192.0.2.1"]) {
    expect(everything).not.toContain(personal);
  }
  expect(logged.some((each) => (each as RequestEvent).path === "/api/v1/customer/{id}")).toBe(true);
  expectNoSecret(logged);
});

describe("A key in the place of a name is not shown", () => {
  const audience = client(undefined);
  const person = { email };
  const defined = audience.v1.events.define({ a: z.strictObject({}) });
  const withLine = (secret: string) => ({ headers: { [`x-api-key: ${secret}`]: "" } });
  const places: Record<string, (value: unknown) => object> = {
    "an option": Object,
    "a hook": (hooks) => ({ hooks }),
    "a header": (headers) => ({ headers }),
    "an option of the limiter": (rateLimiter) => ({ rateLimiter }),
  };

  it.each<[string, (named: never, secret: string) => unknown]>([
    ["a field", (named) => audience.v1.customers.upsert({ ...person, ...(named as object) })],
    ["of an event's data", (eventData) => audience.v1.events.send({ ...event, eventData })],
    ["a custom property", (named) => audience.v1.customers.upsert({ ...person, custom_properties: named })],
    [
      "a member of a write",
      (named) => audience.send(Object.assign(write.v1.customers.upsert(person), named)),
    ],
    ["of a defined event's data", (eventData) => defined.send("a", { contact: person, eventData })],
    ["the same of its write", (eventData) => defined.write("a", { contact: person, eventData })],
    ["a parameter of a list's query", (named) => audience.v1.customers.list(named)],
    ["an option of a call", (named) => audience.v1.customers.get("ada", named)],
    ["a header", (headers) => audience.v1.customers.get("ada", { headers })],
    ["a header's name with its value", (_, secret) => audience.v1.customers.get("ada", withLine(secret))],
    ["the same of a client", (_, secret) => client(undefined, withLine(secret))],
    ...Object.entries(places).map(([place, optionsOf]): [string, (named: never) => unknown] => [
      `${place} of a client`,
      (named) => client(undefined, optionsOf(named)),
    ]),
  ])("%s", async (_, act) => {
    for (const secret of [key, keyV2]) {
      const error = await failureOf((async () => await act({ [secret]: null } as never, secret))());

      expectNoSecret([error, error.stack]);
    }
  });

  it.each(Object.entries(places))("%s of a view, or of a client that has no key", (_, optionsOf) => {
    for (const secret of [key, keyV2])
      expectNoSecret(thrownBy(() => audience.withOptions(optionsOf({ [secret]: 1 }))));
    expectNoSecret(thrownBy(() => new AudienceClient({ ...base, ...optionsOf({ [key]: 1 }) })));
  });

  it("but any other unknown name is shown unchanged", async () => {
    const error = await failureOf(audience.v1.customers.upsert({ ...person, shoe: 43 } as never));

    expect(error).toMatchObject({ code: "validation", issues: [{ path: ["shoe"] }] });
  });
});
