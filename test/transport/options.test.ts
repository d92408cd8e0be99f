import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import {
  AudienceClient,
  type ClientOptions,
  ConfigurationError,
  type FetchInit,
  isAudienceError,
  RateLimiter,
  RateLimitWaitError,
  V1Client,
  V2Client,
  type Write,
  write,
} from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { redisRateLimitStore } from "audience-sdk/redis";
import { flattenProperties } from "audience-sdk/schemas";
import { readSnapshot } from "audience-sdk/snapshot";
import type { Options as KyOptions, RetryOptions as KyRetryOptions } from "ky";
import type { Options as RetryOptions } from "p-retry";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { failureOf, thrownBy } from "./failure.ts";
import { contact, mockedClient, offline, offlineFetch, v2Contact, within } from "./fixture.ts";

/** The options of a program without types. */
const untyped = (options: unknown) => options as ClientOptions;

const oneAMinute = [{ limit: 1, intervalMs: 60_000 }];

/** The message of the `ConfigurationError` that a function throws at once, or rejects with. */
async function refusalOf(act: () => unknown): Promise<string> {
  const error = await failureOf((async () => await act())());
  expect(error).toBeInstanceOf(ConfigurationError);
  return error.message;
}

describe("An option of a wrong type is a ConfigurationError with its name, and without its value", () => {
  const wrong: Record<string, readonly unknown[]> = {
    baseUrl: [1, "", " ", {}, null],
    baseUrlV2: [true, "", []],
    apiKey: [1, null, {}, ""],
    apiKeyV2: [1, [], ""],
    appId: [1, "", null],
    timeoutMs: [0, -1, NaN, "30", null],
    deadlineMs: [0, -1, NaN, "30", new Date()],
    maxRetries: [-1, 1.5, NaN, Infinity, "4"],
    maxResponseBytes: [0, -1, 1.5, "1"],
    rateLimiter: [true, "off", 10, null, []],
    parsePage: ["items", {}],
    fetch: ["fetch", {}, null],
    headers: ["a: b", 1, null, [["a", "b"]]],
    logger: [{}, true, { log() {}, debug: "yes" }, null],
    logLevel: ["trace", "WARN", 1, true],
    hooks: ["onRequest", [], null, () => undefined],
    userAgent: [1, "", {}],
    dangerouslyAllowBrowser: ["yes", 1, null],
    allowInsecureHttp: ["yes", 1],
  };
  const cases = Object.entries(wrong).flatMap(([name, values]) =>
    values.map((value) => [name, value] as const),
  );

  it.each(cases)("%s: %j", (name, value) => {
    const mock = createMockService();

    for (const Client of [AudienceClient, V1Client, V2Client]) {
      const error = thrownBy(() => new Client(untyped({ ...mock.clientOptions, [name]: value })));

      expect(error).toMatchObject({ code: "configuration", outcome: "not-sent" });
      expect((error as Error).message).toMatch(new RegExp(`^${name}\\b`));
    }
  });

  it("of several, each is named in one error, with the variable that it is from, and without its value", () => {
    vi.stubEnv("AUDIENCE_API_KEY", "secret-1\n");
    const options = untyped({
      baseUrl: "http://api.example.com/v2",
      baseUrlV2: "http://api.example.com",
      apiKeyV2: "secret-2\u00fc",
      appId: "",
      timeoutMs: 0,
      headers: { "x a": "secret-3", host: "secret-4" },
      hooks: { onRequest: "secret-5", onresponse() {} },
      userAgent: "app\n",
      colour: 1,
    });

    const error = thrownBy(() => new AudienceClient(options)) as ConfigurationError;

    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message.split(/(?<=[.?]) (?=[\w.]+[: ])/)).toEqual([
      "baseUrl already holds /api/v1 or /v2, which each call adds: remove it.",
      "apiKey (AUDIENCE_API_KEY) begins or ends with white space, such as a line break: trim it.",
      "apiKeyV2 holds a character that no HTTP header can carry, at position 9.",
      "appId must be a string that is not empty, not an empty string.",
      "userAgent begins or ends with white space, such as a line break: trim it.",
      "timeoutMs must be a number of milliseconds above 0, not 0.",
      'headers: "x…" is not a header name.',
      'headers: "host" is set or dropped by the runtime.',
      "hooks.onRequest must be a function, not a string.",
      'hooks: there is no option "onresponse"; did you mean onResponse?',
      expect.stringMatching(/^The client's options: there is no option "colour"; the options are baseUrl, /),
      "baseUrlV2 is http:, which would send the key in the clear; use https:, or set allowInsecureHttp.",
    ]);
    expect(inspect(error)).not.toContain("secret");
  });

  it("in the options of a call it rejects, and nothing is sent", async () => {
    const { mock, v1 } = mockedClient();
    const bad = [
      { signal: {} },
      { signal: new AbortController() },
      { timeoutMs: 0 },
      { deadlineMs: "1" },
      { maxRetries: -1 },
      { maxWaitMs: -1 },
      { priority: 10 },
      { priority: 1.5 },
      { headers: "x" },
      { repeatable: "yes" },
      { consent: "service-decides" },
      "options",
      5,
      null,
      { signal: { aborted: false } },
      { timeoutMs: 0, priority: 10 },
    ];

    const errors = await Promise.all(
      bad.map((options) => failureOf(v1.customers.upsert(contact, options as never))),
    );

    expect(errors.map(({ code }) => code)).toEqual(bad.map(() => "configuration"));
    expect(errors.map(({ outcome }) => outcome)).toEqual(bad.map(() => "not-sent"));
    expect(errors[2]?.message).toBe("timeoutMs must be a number of milliseconds above 0, not 0.");
    expect(errors[3]?.message).toBe("deadlineMs must be a number of milliseconds above 0, not a string.");
    expect(errors[11]?.message).toBe("The call's options must be an object, not a string.");
    expect(errors.at(-1)?.message).toBe(
      "timeoutMs must be a number of milliseconds above 0, not 0. priority must be an integer from 0 (first) to 9 (last), not 10.",
    );
    expect(mock.requests).toEqual([]);
  });
});

describe("An unknown option is a ConfigurationError", () => {
  const client = () => new AudienceClient(offline);
  const created = (options: unknown) => new AudienceClient(untyped(options));
  const redis = { eval: vi.fn(), evalsha: vi.fn() };
  const didYouMean = (given: string, name: string) => `no option "${given}"; did you mean ${name}?`;
  const ofHooks = "the options are onRequest, onResponse, onRetry, onThrottle.";
  const none = (name: string) => `The options of ${name} must be an object, not undefined.`;

  it.each<[message: string, given: unknown, use: (options: never) => unknown]>([
    [didYouMean("api_key", "apiKey"), { api_key: "x" }, created],
    [didYouMean("User-Agent", "userAgent"), { "User-Agent": "x" }, created],
    [didYouMean("timeoutms", "timeoutMs"), { timeoutms: 1 }, (o) => client().v1.customers.get("c", o)],
    [didYouMean("maxretries", "maxRetries"), { maxretries: 1 }, (o) => client().withOptions(o)],
    [didYouMean("Concurrency", "concurrency"), { Concurrency: 1 }, (o) => client().bulk([], () => [], o)],
    [didYouMean("checkPoint", "checkpoint"), { checkPoint: 1 }, (o) => client().bulk.check([], () => [], o)],
    [didYouMean("timeoutMS", "timeoutMs"), { timeoutMS: 1 }, (o) => client().close(o)],
    [didYouMean("Max", "max"), { Max: 1 }, (o) => client().v1.customers.list().toArray(o)],
    [didYouMean("Store", "store"), { Store: 1 }, (o) => new RateLimiter(o)],
    [didYouMean("Priority", "priority"), { Priority: 1 }, (o) => new RateLimiter().estimateMs(1, o)],
    [didYouMean("lease_ms", "leaseMs"), { lease_ms: 1 }, (o) => redisRateLimitStore(redis, o)],
    [didYouMean("File", "file"), { File: "x" }, (o) => readSnapshot(client(), o)],
    [didYouMean("Separator", "separator"), { Separator: "" }, (o) => flattenProperties({}, o)],
    [none("readSnapshot"), undefined, (o) => readSnapshot(client(), o)],
    [none("withOptions"), undefined, (o) => client().withOptions(o)],
    ["the options are baseUrl, baseUrlV2, apiKey", { colour: 1 }, created],
    [`hooks: there is no option "onAnswer"; ${ofHooks}`, { hooks: { onAnswer() {} } }, created],
    ["max", { rateLimiter: { max: 1 } }, created],
    ["the options are signal, timeoutMs, ", { agent: 1 }, (o) => client().v1.customers.get("c", o)],
  ])(
    "that suggests the name in another case or with other separators, or lists all, wherever options are: %s (%j)",
    async (message, given, use) => {
      expect(await refusalOf(() => use(given as never))).toContain(message);
    },
  );

  it("but an option that is undefined counts as absent", () => {
    const names = ["timeoutMs", "rateLimiter", "hooks", "headers", "apiKeyV2", "logger"];
    const absent = Object.fromEntries(names.map((name) => [name, undefined]));

    expect(() => created({ baseUrl: "https://api.example.com", ...absent })).not.toThrow();
  });
});

describe("Access to a family with missing options is a ConfigurationError that names all of them", () => {
  it.each([AudienceClient, V1Client, V2Client])(
    "without any base URL the constructor of %o throws",
    (Client) => {
      for (const options of [undefined, { apiKey: "k", appId: "a" }]) {
        const error = thrownBy(() => new Client(options));

        expect(error).toBeInstanceOf(ConfigurationError);
        expect((error as Error).message).toBe(
          "The client needs baseUrl (or AUDIENCE_BASE_URL) for the v1 family, or baseUrlV2 (or AUDIENCE_BASE_URL_V2) for the v2 family. " +
            "No service yet? `npx audience-mock --env .env` starts a mock, and `node --env-file=.env` reads its address.",
        );
      }
    },
  );

  const baseUrl = "https://a.example";
  it.each<[string, () => unknown, message: string]>([
    [
      "v1",
      () => new AudienceClient({ baseUrlV2: baseUrl }).v1,
      "needs baseUrl (or AUDIENCE_BASE_URL), apiKey (or AUDIENCE_API_KEY)",
    ],
    [
      "v2",
      () => new AudienceClient({ baseUrl }).v2,
      "needs baseUrlV2 (or AUDIENCE_BASE_URL_V2), apiKey (or AUDIENCE_API_KEY), appId (or AUDIENCE_APP_ID)",
    ],
    ["V1Client in its constructor", () => new V1Client({ apiKey: "k" }), "baseUrl"],
    ["V2Client in its constructor", () => new V2Client({ apiKey: "k", baseUrlV2: baseUrl }), "appId"],
  ])("%s names its own", async (_, act, message) => {
    expect(await refusalOf(act)).toContain(message);
  });
});

it("In a browser the constructor throws, unless dangerouslyAllowBrowser is set", () => {
  const { clientOptions } = createMockService();
  vi.stubGlobal("window", { document: {} });

  for (const Client of [AudienceClient, V1Client, V2Client]) {
    expect(thrownBy(() => new Client(clientOptions))).toBeInstanceOf(ConfigurationError);
    expect(() => new Client({ ...clientOptions, dangerouslyAllowBrowser: true })).not.toThrow();
  }
});

describe("withOptions", () => {
  it("returns a view with other options, and the same limiter", async () => {
    const rateLimiter = new RateLimiter();
    const { mock, audience } = mockedClient(
      { faults: [{ kind: "500-before" }] },
      { rateLimiter, headers: { "x-team": "crm" } },
    );

    const view = audience.withOptions({ maxRetries: 0, deadlineMs: 5_000 });
    const error = await failureOf(view.v1.customers.get("c-1"));

    expect(view).toBeInstanceOf(AudienceClient);
    expect(view.rateLimiter).toBe(rateLimiter);
    expect(error.request?.attempts).toBe(1);
    expect(mock.requests[0]?.headers["x-team"]).toBe("crm");
    expect(rateLimiter.usage().windows[0]?.used).toBe(1);
  });

  it("may shorten the wait and the queue, and cannot replace the limiter", async () => {
    const { audience } = mockedClient({}, { rateLimiter: { windows: oneAMinute } });
    await audience.v1.customers.list();

    const view = audience.withOptions({ rateLimiter: { maxWaitMs: 10 } });
    const short = audience.withOptions({ rateLimiter: { maxQueued: 0 } });

    for (const { v1 } of [view, short])
      expect(await failureOf(v1.customers.get("c"))).toBeInstanceOf(RateLimitWaitError);
    expect(view.rateLimiter).toBe(audience.rateLimiter);
    for (const rateLimiter of [false, { windows: oneAMinute }, new RateLimiter()] as const)
      await refusalOf(() => audience.withOptions({ rateLimiter }));
    // They would count as no options.
    for (const rateLimiter of [Promise.resolve(), new Map()]) {
      const options = untyped({ rateLimiter });
      const refusal = await refusalOf(() => audience.withOptions(options));
      expect(refusal).toContain("rateLimiter must be a plain object, not a");
      expect(refusal).toBe(await refusalOf(() => new AudienceClient(options)));
    }
  });

  it("validates its options like the constructor, and does not change the client", async () => {
    const { mock, audience } = mockedClient();

    for (const options of [{ timeoutMs: -1 }, { apiKey: "" }])
      await refusalOf(() => audience.withOptions(options));
    audience.withOptions({ apiKey: "wrong", headers: { "x-a": "1" } });
    await audience.v1.customers.upsert(contact);

    expect(mock.requests[0]?.headers).not.toHaveProperty("x-a");
  });
});

it("The limiter of a client has a longest wait for each client, which a call may override, also with no limit", async () => {
  vi.useFakeTimers();
  const { v1 } = mockedClient({}, { rateLimiter: new RateLimiter({ windows: oneAMinute, maxWaitMs: 10 }) });
  await v1.customers.list();

  const bounded = failureOf(v1.customers.upsert(contact));
  const patient = within(70_000, v1.customers.upsert(contact, { maxWaitMs: Infinity }));

  expect(await bounded).toMatchObject({ code: "rate_limit_wait", outcome: "not-sent" });
  expect((await patient).id).toBeDefined();
});

// A caller in JavaScript can pass any of these; each was treated as empty options.
const kinds: readonly (readonly [kind: string, given: object, wayOut: string])[] = [
  ["a Promise", Promise.resolve({ maxRetries: 0 }), ": await it"],
  ["an AbortSignal", AbortSignal.abort(), ": write { signal }"],
  ["a URLSearchParams", new URLSearchParams("page=2"), ""],
];

const entryPoints: readonly (readonly [place: string, (client: AudienceClient, given: object) => unknown])[] =
  [
    ["The client's options", (_, given) => new AudienceClient(given)],
    ["The options of withOptions", (client, given) => client.withOptions(given)],
    ["The call's options", (client, given) => client.v1.customers.upsert(contact, given)],
    ["The call's options", (client, given) => client.v1.customers.list({}, given)],
    ["The options of toArray", (client, given) => client.v1.customers.list().toArray(given)],
    ["The options of bulk", (client, given) => client.bulk([contact], () => [], given)],
    ["The options of RateLimiter", (_, given) => new RateLimiter(given)],
    ["rateLimiter", (_, given) => new AudienceClient({ rateLimiter: given as ClientOptions["rateLimiter"] })],
    ["The options of flattenProperties", (_, given) => flattenProperties({ a: 1 }, given)],
  ];

describe.each(kinds)("%s", (kind, given, wayOut) => {
  it.each(entryPoints)("is refused as %s, and nothing is sent", async (place, hand) => {
    const { mock, audience } = mockedClient();
    const handed = async () => hand(audience, given);
    await expect(handed()).rejects.toMatchObject({
      code: "configuration",
      message: `${place} must be a plain object, not ${kind}${wayOut}.`,
    });
    expect(mock.requests).toEqual([]);
  });
});

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

const toWrite = (each: string) => write.v1.customers.upsert({ email: each, email_opt_in: "SUBSCRIBED" });

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
  run: async (client) => ({ ...(await client.bulk([email], toWrite)), durationMs: 0 }),
  "check of rows": (client) => client.bulk.check([email], toWrite, {}),
  estimate: async (client) => client.rateLimiter?.usage(),
  snapshot: async (client) => {
    const folder = mkdtempSync(join(tmpdir(), "inherited-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    using snapshot = await readSnapshot(client, { file: join(folder, "audience.ndjson") });
    const contacts: unknown[] = [snapshot.find({ email: stranger })];
    for await (const one of snapshot) contacts.push(one);
    return contacts;
  },
  view: (client) => client.withOptions({}).v1.customers.get("c-1"),
};

/** All that leaves, and how each call ends. */
async function traffic(): Promise<unknown[]> {
  const seen: unknown[] = [];
  const fetch = async (url: string, { method, headers, body, redirect }: FetchInit) => {
    seen.push({ url, method, headers, body, redirect });
    return await offlineFetch(url, undefined as never);
  };
  const client = new AudienceClient({ ...offline, fetch, hooks: {} });
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
  // No `onRequest`: vitest's own messages, which a test that waits does not stop, would call it.
  ...named("parsePage fetch logger onResponse warn", refuse),
  ...named("dangerouslyAllowBrowser allowInsecureHttp repeatable drain is_suppressed double_opt_in", true),
  ...named("email_opt_in phone_opt_in type", "SUBSCRIBED"),
  ...named("triggerWelcomeEmail", true),
  ...named("email phone status createdAt", stranger),
  ...named("custom_properties eventData query body params options headers channels", { evil: "1" }),
  ...named("contact", { email: stranger }),
  ...named("hooks", { onRequest: refuse }),
  ...named("rateLimiter", { windows: [] }),
  ...named("isRateLimited stopWhen", () => true),
  ...named("signal", AbortSignal.abort()),
  ...named("consent", "service-decides"),
  ...named("consent", 1),
  ...named("logLevel", "debug"),
  ...named("issues", [1]),
  ...named("key redirect method json searchParams prefix", "evil"),
  ...named("data", { headers: { "x-evil": "1" } }),
  ...named("totalPages total_pages total_items longestPage", 1),
  ...named("isRequeued isInFront gate left problem isComplete randomize unref", true),
  ...named("position deadlineInMs maxRetryTime factor waitMs", 0),
  ...named("isCurrent", () => false),
  ...named("fingerprint onProgress", refuse),
  ...named("snapshot checkpoint", {}),
  ...named("onFailedAttempt onWait onLeave observer beforeRequest", refuse),
];

type NamesOf<Options> = Readonly<Record<keyof Options, unknown>>;
const byKy: NamesOf<Omit<KyOptions, keyof RequestInit>> = {
  json: { evil: 1 },
  parseJson: refuse,
  stringifyJson: refuse,
  searchParams: { evil: "1" },
  baseUrl: "https://evil.example",
  prefix: "https://evil.example",
  retry: 3,
  timeout: 1,
  totalTimeout: 1,
  hooks: { beforeRequest: [() => Response.json({ data: { id: "evil" } })] },
  throwHttpErrors: true,
  onDownloadProgress: refuse,
  onUploadProgress: refuse,
  fetch: refuse,
  context: "evil",
};
const retriesOfKy: NamesOf<KyRetryOptions> = {
  limit: 3,
  methods: ["get", "post"],
  statusCodes: [200, 307],
  afterStatusCodes: [200, 307],
  maxRetryAfter: 1,
  backoffLimit: 1,
  delay: refuse,
  jitter: refuse,
  retryOnTimeout: true,
  shouldRetry: () => true,
};
const byPRetry: NamesOf<Omit<RetryOptions, "signal">> = {
  onFailedAttempt: refuse,
  shouldRetry: () => true,
  shouldConsumeRetry: refuse,
  retries: "evil",
  factor: "evil",
  minTimeout: "evil",
  maxTimeout: "evil",
  randomize: "evil",
  maxRetryTime: 0,
  unref: "evil",
};

/** Of requests that the platform's own fetch sends. Not what that reads itself, whatever it is given. */
const platform = [
  ...[byKy, retriesOfKy, byPRetry].flatMap((names) => Object.entries(names)),
  ...named("redirect", "follow"),
  ...named("method key", "DELETE"),
  ...named("headers", { "x-evil": "1" }),
  ...named("mode", "no-cors"),
  ...named("keepalive", true),
];

describe("A property that all objects inherit", () => {
  it.each(inherited)("changes no option, no consent and no input: %s", async (name, value) => {
    const expected = await traffic();
    expect(expected).toHaveLength(40);

    expect(await withInherited(name, value, traffic)).toEqual(expected);
  });

  it.each(platform)("changes no request of the platform's fetch: %s", async (name, value) => {
    const mock = createMockService({ faults: [{ kind: "redirect", operation: "v1.contactGroups.get" }] });
    const server = await mock.listen();
    onTestFinished(() => server.close());
    const audience = new AudienceClient({ ...server.clientOptions, rateLimiter: false });
    const send = async () => {
      const ends = [
        await audience.v1.customers.upsert({ email }).then(({ type }) => type),
        await audience.v1.contactGroups
          .get("mock-list")
          .catch((error: unknown) => isAudienceError(error) && error.code),
      ];
      const requests = mock.requests.map(({ method, path, query, headers, body }) => [
        method,
        path,
        query,
        headers["x-evil"],
        body,
      ]);
      mock.reset();
      mock.addFault({ kind: "redirect", operation: "v1.contactGroups.get" });
      return { ends, requests };
    };
    const expected = await send();

    expect(await withInherited(name, value, send)).toEqual(expected);
    expect(expected.ends).toEqual(["profile", "redirect"]);
  });

  // Alone, as Node's own `fs` throws an inherited `error`.
  it("is no refusal of a schema: error", async () => {
    const ids = await withInherited("error", { issues: [] }, async () => {
      const { v1 } = new AudienceClient({ ...offline, hooks: {} });
      await v1.customers.upsert({ email });
      return (await v1.contactGroups.list({}, {}).toArray()).map(({ id }) => id);
    });

    expect(ids).toEqual(["list-1"]);
  });

  it.each<[string, unknown, ClientOptions]>([
    ["baseUrl", "https://evil.example", { apiKey: "k" }],
    ["allowInsecureHttp", true, { ...offline, baseUrl: "http://far.example", baseUrlV2: undefined }],
  ])("gives a constructor no %s", async (name, value, options) => {
    await expect(withInherited(name, value, () => new AudienceClient(options))).rejects.toThrow(name);
  });

  it.each<[string, unknown]>([
    ["contact", { email: stranger, email_opt_in: "SUBSCRIBED" }],
    ["operation", "v1.customers.upsert"],
  ])("is no %s of a write that has none", async (name, value) => {
    const { mock, audience } = mockedClient();
    const parts: Partial<Write> = { operation: "v1.customers.upsert", contact: { email } };
    // Safe: it lacks what all objects inherit.
    const given = { ...parts, [name]: undefined } as Write;
    Reflect.deleteProperty(given, name);

    const refused = await withInherited(name, value, () => failureOf(audience.send(given)));

    expect(refused).toMatchObject({ code: "validation" });
    expect(mock.requests).toEqual([]);
  });

  it("is an option if a class below Object.prototype has it", async () => {
    class Shared {
      readonly #host = "shared.example";
      get baseUrl(): string {
        return `https://${this.#host}`;
      }
      get apiKey(): string {
        return "k";
      }
    }
    const own = { rateLimiter: false, fetch: offlineFetch } as const;
    const audience = new AudienceClient(Object.assign(new Shared(), own));

    const { response } = await audience.v1.customers.get("c-1").withResponse();

    expect(response.url).toBe("https://shared.example/api/v1/customer/c-1");
    // Also where none is its own.
    expect(new AudienceClient(new Shared()).v1).toBeDefined();
  });
});
