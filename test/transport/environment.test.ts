import { AudienceClient, DOCUMENTED_WINDOWS, RateLimiter, V1Client, V2Client } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { thrownBy } from "./failure.ts";

const organizations = [
  { id: "v1", apiKeys: ["key-of-v1"], apiKeysV2: ["key-of-v2"], appId: "app-1" },
  { id: "other", apiKeys: ["other-key"], appId: "app-2" },
];
const mock = createMockService({ organizations });
const { baseUrl, baseUrlV2, fetch } = mock.clientOptions;
const rest = { fetch, rateLimiter: false } as const;
const printed: string[] = [];

beforeEach(() => {
  mock.reset();
  for (const name of ["BASE_URL", "BASE_URL_V2", "API_KEY", "API_KEY_V2", "APP_ID", "LOG", "RATE_LIMIT"])
    vi.stubEnv(`AUDIENCE_${name}`, "");
  printed.length = 0;
  vi.spyOn(console, "error").mockImplementation((line: string) => void printed.push(line));
});

function setAll(): void {
  vi.stubEnv("AUDIENCE_BASE_URL", baseUrl);
  vi.stubEnv("AUDIENCE_BASE_URL_V2", baseUrlV2);
  vi.stubEnv("AUDIENCE_API_KEY", "key-of-v1");
  vi.stubEnv("AUDIENCE_API_KEY_V2", "key-of-v2");
  vi.stubEnv("AUDIENCE_APP_ID", "app-1");
}

describe("An absent option is read from the environment", () => {
  it("for both families, and for V1Client and V2Client", async () => {
    setAll();
    const audience = new AudienceClient(rest);

    await audience.v1.customers.list();
    await audience.v2.lists.list();
    await new V1Client(rest).customers.list();
    await new V2Client(rest).lists.list();

    expect(mock.requests.map(({ headers }) => headers["x-api-key"] ?? headers["service-api-key"])).toEqual([
      "key-of-v1",
      "key-of-v2",
      "key-of-v1",
      "key-of-v2",
    ]);
    expect(mock.requests.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it("at construction: later changes have no effect", async () => {
    setAll();
    const audience = new AudienceClient(rest);
    vi.stubEnv("AUDIENCE_API_KEY", "changed");

    await audience.v1.customers.list();

    expect(mock.requests[0]?.headers["x-api-key"]).toBe("key-of-v1");
  });

  it("an option takes precedence over its variable", async () => {
    setAll();

    await new AudienceClient({ ...rest, apiKey: "other-key" }).v1.customers.list();

    expect(mock.requests[0]?.headers["x-api-key"]).toBe("other-key");
  });

  it("AUDIENCE_API_KEY serves both families if AUDIENCE_API_KEY_V2 is not set, or empty", async () => {
    setAll();
    vi.stubEnv("AUDIENCE_API_KEY", "other-key");
    vi.stubEnv("AUDIENCE_API_KEY_V2", "");
    vi.stubEnv("AUDIENCE_APP_ID", "app-2");

    await new AudienceClient(rest).v2.lists.list();

    expect(mock.requests[0]?.headers["service-api-key"]).toBe("other-key");
  });

  it.each([
    ["AUDIENCE_API_KEY", "key\n", "apiKey (AUDIENCE_API_KEY) begins or ends with white space"],
    ["AUDIENCE_BASE_URL", '"https://example.com"', "baseUrl (AUDIENCE_BASE_URL) must begin with https://"],
    ["AUDIENCE_APP_ID", "app\n", "appId (AUDIENCE_APP_ID) begins or ends with white space"],
  ])("is named in the error: %s=%j", (variable, value, message) => {
    setAll();
    vi.stubEnv(variable, value);

    expect(thrownBy(() => new AudienceClient(rest))).toMatchObject({
      code: "configuration",
      message: expect.stringContaining(message),
    });
  });
});

describe("What the runtime forbids is no error of the constructor", () => {
  const refuse = () => {
    throw new Error("not permitted");
  };
  // Vitest may give a stand-in's `nextTick` back to the real process, which hears no message without one.
  const bare = { nextTick: process.nextTick, env: {} };

  // Deno without `--allow-env`, and the edge runtime of Next.js, which has the names of Node's functions.
  it.each<[string, Record<string, unknown>]>([
    ["a process", { process: undefined }],
    ["modules", { process: bare }],
    ["one of them", { process: { ...bare, getBuiltinModule: () => undefined } }],
    ["each variable", { process: { ...process, env: new Proxy({}, { get: refuse }) } }],
    ["the environment", { process: Object.defineProperty({ ...bare }, "env", { get: refuse }) }],
    ["Node's modules", { process: { ...bare, getBuiltinModule: refuse } }],
    [
      "what its modules do",
      { process: { ...bare, getBuiltinModule: () => ({ subscribe: refuse, tracingChannel: refuse }) } },
    ],
    ["all but the names of its modules", { process: { ...bare, getBuiltinModule: () => ({}) } }],
    ["the name of the runtime", { navigator: Object.defineProperty({}, "userAgent", { get: refuse }) }],
    ["a document", { window: Object.defineProperty({}, "document", { get: refuse }) }],
  ])("%s: the client works with its options", async (_, globals) => {
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
    const audience = new AudienceClient({
      ...mock.clientOptions,
      apiKey: "key-of-v1",
      apiKeyV2: "key-of-v2",
      appId: "app-1",
      rateLimiter: undefined,
    });
    await audience.v1.customers.list();
    await audience.v2.lists.list();

    expect(mock.requests.map(({ status }) => status)).toEqual([200, 200]);
  });

  it("and an option that is missing then names the variable", () => {
    const permitted: Record<string, string> = { AUDIENCE_BASE_URL_V2: baseUrlV2 };
    const get = (_: object, name: string) => permitted[name] ?? refuse();
    vi.stubGlobal("process", { ...bare, env: new Proxy({}, { get }) });
    const messageOf = (run: () => unknown) => String(thrownBy(run)).replace(/^ConfigurationError: /, "");

    expect(messageOf(() => new AudienceClient({ baseUrl, ...rest }).v1)).toBe(
      "The v1 family needs apiKey (or AUDIENCE_API_KEY).",
    );
    expect(messageOf(() => new AudienceClient({ apiKey: "k", ...rest }).v2)).toBe(
      "The v2 family needs appId (or AUDIENCE_APP_ID).",
    );
    delete permitted["AUDIENCE_BASE_URL_V2"];
    expect(messageOf(() => new AudienceClient(rest))).toContain(
      "The client needs baseUrl (or AUDIENCE_BASE_URL) for the v1 family, or baseUrlV2 (or AUDIENCE_BASE_URL_V2) for the v2 family.",
    );
  });
});

/** A logger, and the lines that it got. */
function keepingLogger() {
  const lines: string[] = [];
  const keep = (line: string) => void lines.push(line);
  return { lines, logger: { debug: keep, warn: keep } };
}

/** Lines without what differs from call to call. */
function steady(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/request [\w-]+|\d+ ms/g, "…"));
}

describe("AUDIENCE_LOG", () => {
  beforeEach(setAll);

  it.each<[string, boolean, object, ("logger" | "stderr")?]>([
    ["prints to stderr the lines that a logger gets", false, {}, "stderr"],
    ["is the level of a logger that is given, and prints nothing then", true, {}, "logger"],
    ["gives way to logLevel, with a logger", true, { logLevel: "warn" }],
    ["gives way to logLevel, without a logger", false, { logLevel: "warn" }],
  ])("%s", async (_, isGiven, more, place) => {
    const all = keepingLogger();
    await new AudienceClient({ ...rest, logger: all.logger, logLevel: "debug" }).v1.customers.list();
    vi.stubEnv("AUDIENCE_LOG", "debug");
    const { lines, logger } = keepingLogger();

    await new AudienceClient({ ...rest, ...(isGiven && { logger }), ...more }).v1.customers.list();

    expect(all.lines).toHaveLength(2);
    expect(steady(lines)).toEqual(place === "logger" ? steady(all.lines) : []);
    expect(steady(printed)).toEqual(place === "stderr" ? steady(all.lines) : []);
  });

  it("is named in the error of a level that there is not", () => {
    for (const [level, message] of [
      ["verbose", "AUDIENCE_LOG must be one of debug, info, warn, error, silent"],
      ["DEBUG", "case counts, write debug"],
    ] as const) {
      vi.stubEnv("AUDIENCE_LOG", level);

      expect(thrownBy(() => new AudienceClient(rest))).toMatchObject({
        code: "configuration",
        message: expect.stringContaining(message),
      });
    }
  });
});

describe("AUDIENCE_RATE_LIMIT=off", () => {
  const line =
    "audience-sdk: AUDIENCE_RATE_LIMIT=off lifts the rate limit of clients that were given no limiter, which is for tests of an app.";

  beforeEach(() => {
    setAll();
    Reflect.deleteProperty(globalThis, Symbol.for("audience-sdk.rate-limit-said"));
    vi.stubEnv("AUDIENCE_RATE_LIMIT", "off");
  });

  it.each([undefined, {}, { maxWaitMs: 0, maxQueued: 0 }, { maxWaitMs: undefined }])(
    "lifts the limiter of a client whose option is %j",
    async (rateLimiter) => {
      const audience = new AudienceClient({ fetch, rateLimiter });

      await Promise.all(Array.from({ length: 25 }, () => audience.v1.customers.list().toArray()));

      expect(audience.rateLimiter).toBeUndefined();
      expect(mock.requests).toHaveLength(25);
    },
  );

  it("prints one line in each process, also of another copy of the package", async () => {
    vi.resetModules();
    const copy = await import("audience-sdk");

    for (const Client of [AudienceClient, V1Client, V2Client, copy.AudienceClient])
      void new Client({ fetch });

    expect(printed).toEqual([line]);
  });

  it("leaves a client with a limiter of its own, or none, as it is, and prints nothing", () => {
    const rateLimiter = new RateLimiter();
    const windows = [{ limit: 5, intervalMs: 1_000 }];

    expect(new AudienceClient({ rateLimiter }).rateLimiter).toBe(rateLimiter);
    expect(new AudienceClient({ rateLimiter: { windows } }).rateLimiter?.usage().windows).toMatchObject(
      windows,
    );
    expect(new AudienceClient({ rateLimiter: false }).rateLimiter).toBeUndefined();

    expect(printed).toEqual([]);
  });

  it("is read at the creation of a client: its views keep what it was", () => {
    const lifted = new AudienceClient({ fetch });
    vi.stubEnv("AUDIENCE_RATE_LIMIT", "");
    const limited = new AudienceClient({ fetch });
    vi.stubEnv("AUDIENCE_RATE_LIMIT", "on");

    const views = [lifted, limited].map((each) => each.withOptions({ rateLimiter: { maxWaitMs: 5 } }));

    expect(views.map(({ rateLimiter }) => rateLimiter !== undefined)).toEqual([false, true]);
    expect(limited.rateLimiter).toBe(views[1]?.rateLimiter);
  });
});

describe("AUDIENCE_RATE_LIMIT=60x", () => {
  const line = (speed: string) =>
    `audience-sdk: AUDIENCE_RATE_LIMIT=${speed}x makes the windows of the rate limit ${speed} times shorter. This is for a rehearsal against a mock with \`--speed ${speed}\`: the service itself would refuse such calls.`;

  beforeEach(() => {
    setAll();
    Reflect.deleteProperty(globalThis, Symbol.for("audience-sdk.rate-limit-said"));
    Reflect.deleteProperty(globalThis, Symbol.for("audience-sdk.rate-limiters"));
  });

  it.each([
    ["60x", [1_000 / 60, 1_000, 60_000]],
    ["2.5x", [400, 24_000, 1_440_000]],
    [".5x", [2_000, 120_000, 7_200_000]],
  ])("shortens the windows of each limiter that has the documented ones: %s", async (value, intervals) => {
    vi.stubEnv("AUDIENCE_RATE_LIMIT", value);
    const windows = DOCUMENTED_WINDOWS.map((window) => ({ ...window }));
    const limiters = [
      new AudienceClient({ fetch }).rateLimiter,
      new RateLimiter(),
      new RateLimiter({ windows, reserve: 0 }),
      new AudienceClient({ fetch, rateLimiter: { windows } }).rateLimiter,
    ];
    for (const limiter of limiters)
      expect(limiter?.usage().windows.map(({ intervalMs }) => intervalMs)).toEqual(intervals);
    expect(printed).toEqual([line(value === ".5x" ? "0.5" : value.slice(0, -1))]);
  });

  it("leaves other windows, and clients without a limiter, as they are", () => {
    vi.stubEnv("AUDIENCE_RATE_LIMIT", "60x");
    const windows = [...DOCUMENTED_WINDOWS.slice(0, 2), { limit: 2_000, intervalMs: 3_600_000 }];
    expect(new RateLimiter({ windows }).usage().windows).toMatchObject(windows);
    expect(new AudienceClient({ fetch, rateLimiter: false }).rateLimiter).toBeUndefined();
    expect(printed).toEqual([]);
  });
});

it.each(["OFF", "on", "0", " ", "60", "x", "0x", "0.0x", "-1x", "1e3x", "60X", "1.x", "Infinityx"])(
  "AUDIENCE_RATE_LIMIT is refused as %j, by a client, also without a limiter, and by a limiter",
  (value) => {
    setAll();
    vi.stubEnv("AUDIENCE_RATE_LIMIT", value);

    const without = () => new AudienceClient({ rateLimiter: false });
    for (const build of [() => new AudienceClient(), without, () => new RateLimiter()])
      expect(thrownBy(build)).toMatchObject({
        code: "configuration",
        message:
          "AUDIENCE_RATE_LIMIT must be off, or how many times shorter the windows are, as 60x, or not set; other limits are an option, rateLimiter.",
      });
  },
);
