import { AudienceClient, ConfigurationError, DOCUMENTED_WINDOWS, RateLimiter } from "audience-sdk";
import { describe, expect, it, vi } from "vitest";

it.each([
  [null, "The options of RateLimiter must be an object, not null."],
  [{ windows: [{ limit: 0, intervalMs: 1_000 }] }, "windows[0].limit must be an integer from 1, not 0."],
  [{ maxWaitMs: "1" }, "maxWaitMs must be a number of milliseconds from 0, not a string."],
  [{ maxQueued: 1.5 }, "maxQueued must be an integer from 0, or Infinity, not 1.5."],
  [{ reserve: -0.1 }, "reserve must be a number from 0 to 0.9, not -0.1."],
  [{ reserve: 0.91 }, "reserve must be a number from 0 to 0.9, not 0.91."],
  [
    { store: "redis://" },
    "store must be a rate limit store, as `redisRateLimitStore(redis)` gives, not a string.",
  ],
  [
    { clock: () => new Date() },
    "clock must be a function that returns milliseconds, as `() => performance.now()`, not a function.",
  ],
  [{ windows: [] }, "windows must not be empty."],
  [
    { windows: [{ limit: 1, intervalMs: 0 }] },
    "windows[0].intervalMs must be a number of milliseconds above 0, not 0.",
  ],
  [
    { clock: 5 },
    "clock must be a function that returns milliseconds, as `() => performance.now()`, not a number.",
  ],
  [
    { windows: [{ limit: 1, intervalMs: Infinity }] },
    "windows[0].intervalMs must be a number of milliseconds above 0, not Infinity.",
  ],
  [
    { store: { open: () => undefined } },
    "store must be a rate limit store, as `redisRateLimitStore(redis)` gives, not an object.",
  ],
  [
    { open: () => undefined, leaseMs: 10_000 },
    "A rate limit store is one of the options: write `rateLimiter: { store }`.",
  ],
])("the options of a limiter are refused with the rule in the message (%j)", (options, message) => {
  const build = () => new RateLimiter(options as never); // on purpose of a wrong type
  expect(build).toThrow(new ConfigurationError(message));
});

describe("the limiter of a service", () => {
  const at = (...origins: [string, string?]) => {
    const [baseUrl, baseUrlV2] = origins.map((origin) => origin && `https://${origin}.test/prefix`);
    return { baseUrl, baseUrlV2, apiKey: "a-key", appId: "an-app" };
  };
  const clientAt = (...origins: [string, string?]) => new AudienceClient(at(...origins));

  it("is the same for every client of an origin, of either family, whatever its key, and for every copy of the package", async () => {
    const audience = clientAt("one");
    const shared = audience.rateLimiter;
    expect(shared).toBeInstanceOf(RateLimiter);
    expect(new AudienceClient({ ...at("one"), apiKey: "other" }).rateLimiter).toBe(shared);
    expect(
      new AudienceClient({ baseUrlV2: "https://one.test", apiKey: "a-key", appId: "a" }).rateLimiter,
    ).toBe(shared);
    vi.resetModules();
    const copy = await import("audience-sdk");
    expect(copy.AudienceClient).not.toBe(AudienceClient);
    expect(new copy.AudienceClient(at("one")).rateLimiter).toBe(shared);
  });

  it("is another one for another service, which no 429 and no 503 of the first stops", async () => {
    const fetch = async (url: string) =>
      url.includes("down")
        ? new Response("{}", { status: url.includes("429") ? 429 : 503, headers: { "retry-after": "3600" } })
        : Response.json({ data: { id: "1" } });
    for (const origin of ["down-429", "down-503"]) {
      const audience = new AudienceClient({ ...at(origin), fetch, maxRetries: 0 });
      await expect(audience.v1.customers.get("1")).rejects.toMatchObject({ name: /RateLimit|Server/ });
      expect(audience.rateLimiter?.usage().pausedMs).toBeGreaterThan(3_500_000);
    }
    const other = new AudienceClient({ ...at("up"), fetch });
    await expect(other.v1.customers.get("1")).resolves.toMatchObject({ id: "1" });
    expect(other.rateLimiter?.usage()).toMatchObject({ pausedMs: 0, windows: [{ used: 1 }, {}, {}] });
  });

  it("counts for two services that a client joins: the permits, the pause, and the calls that wait", async () => {
    vi.useFakeTimers();
    const arrived: string[] = [];
    const fetch = async (url: string) => (
      arrived.push(url.slice(8, 10)),
      Response.json({ data: { id: "1" } })
    );
    const [left, right, far] = ["le", "ri", "fa"].map(
      (origin) => new AudienceClient({ ...at(origin), fetch }),
    ) as [AudienceClient, AudienceClient, AudienceClient];
    await Promise.all([1, 2, 3, 4, 5, 6].map(() => left.v1.customers.get("1")));
    await Promise.all([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(() => right.v1.customers.get("1")));
    const waits = right.v1.customers.get("1");
    right.rateLimiter?.refused(100);
    const apart = clientAt("apart");

    const joined = new AudienceClient({ ...at("le", "ri"), fetch });
    void new AudienceClient({ ...at("ri", "fa"), fetch });

    const { rateLimiter } = joined;
    expect([left, right, far].map((audience) => audience.rateLimiter === rateLimiter)).toEqual([
      true,
      true,
      true,
    ]);
    expect(rateLimiter?.usage()).toMatchObject({
      windows: [{ used: 16 }, { used: 16 }, { used: 16 }],
      queued: 1,
      pausedMs: expect.toSatisfy((pausedMs: number) => pausedMs > 0),
    });
    expect(rateLimiter?.snapshot().share).toBe(0.5);
    expect(apart.rateLimiter).not.toBe(rateLimiter);
    await vi.advanceTimersByTimeAsync(5_000);
    await waits;
    expect(arrived).toHaveLength(17);
    expect(clientAt("ri").rateLimiter).toBe(rateLimiter);
    expect(clientAt("elsewhere").rateLimiter).not.toBe(rateLimiter);
  });

  it.each([
    [{}, true],
    [{ maxWaitMs: 5, maxQueued: 5 }, true],
    [{ maxWaitMs: 5, windows: undefined }, true],
    [{ maxQueued: 5, windows: DOCUMENTED_WINDOWS }, false],
    [{ clock: () => 0 }, false],
  ])("is left by a client whose option says more than bounds and `reserve`: %j", (rateLimiter, isKept) => {
    const client = new AudienceClient({ ...at("bounds"), rateLimiter });
    expect(client.rateLimiter === clientAt("bounds").rateLimiter).toBe(isKept);
  });

  it("keeps for a call that moves with its service its own bounds, and its signal", async () => {
    const [left, right] = [clientAt("bounds-left"), clientAt("bounds-right")];
    const { rateLimiter } = right;
    await Promise.all(Array.from({ length: 10 }, () => rateLimiter!.acquire()));
    const controller = new AbortController();
    const aborted = rateLimiter!.acquire({ signal: controller.signal });
    const refused = rateLimiter!.acquire({ maxWaitMs: 60_000, onWait: () => {} });
    left.rateLimiter?.refused(600_000);

    void clientAt("bounds-left", "bounds-right");

    await expect(refused).rejects.toMatchObject({ code: "rate_limit_wait" });
    controller.abort("gone");
    await expect(aborted).rejects.toBe("gone");
    expect(right.rateLimiter?.usage().queued).toBe(0);
  });

  it("is joined by a view with another origin", () => {
    const audience = clientAt("view");
    const view = audience.withOptions({ baseUrl: "https://view-other.test" });
    expect(view.rateLimiter).toBe(audience.rateLimiter);
    expect(clientAt("view-other").rateLimiter).toBe(audience.rateLimiter);
  });

  it("has one `reserve`: that of the client which gives it first; another one is refused, and changes nothing", () => {
    const audience = clientAt("reserve");
    expect(audience.rateLimiter?.usage().windows[1]).toMatchObject({ reserve: 10 });
    void new AudienceClient({ ...at("reserve"), rateLimiter: { reserve: 0.3, maxQueued: 5 } });
    expect(audience.rateLimiter?.usage().windows[1]).toMatchObject({ reserve: 30 });
    void audience.withOptions({ rateLimiter: { reserve: 0.3 } });
    const other = new AudienceClient({ ...at("reserve-other"), rateLimiter: { reserve: 0 } });
    for (const build of [
      () => audience.withOptions({ rateLimiter: { reserve: 0.2 } }),
      () => new AudienceClient({ ...at("reserve"), rateLimiter: { reserve: 0.2 } }),
      () => clientAt("reserve", "reserve-other"),
    ])
      expect(build).toThrow(/^reserve is one number of the limiter/);
    expect(audience.rateLimiter?.usage().windows[1]).toMatchObject({ reserve: 30 });
    expect(other.rateLimiter).not.toBe(audience.rateLimiter);
  });

  it("does not set the `reserve` of a limiter that has one", () => {
    const own = new AudienceClient({ ...at("own"), rateLimiter: new RateLimiter({ reserve: 0.2 }) });
    expect(() => own.withOptions({ rateLimiter: { reserve: 0.1 } })).toThrow(
      new ConfigurationError(
        "reserve is one number of the limiter, and was set to 0.2: it cannot be 0.1 too.",
      ),
    );
    void own.withOptions({ rateLimiter: { reserve: 0.2 } });
    const none = new AudienceClient({ ...at("own"), rateLimiter: false });
    expect(none.withOptions({ rateLimiter: { reserve: 0.1 } }).rateLimiter).toBeUndefined();
  });

  it("is separate for each client on Cloudflare Workers, where no request may wait for another's timer", () => {
    vi.stubGlobal("navigator", { userAgent: "Cloudflare-Workers" });

    expect(clientAt("edge").rateLimiter).not.toBe(clientAt("edge").rateLimiter);
  });
});
