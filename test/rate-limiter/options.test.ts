import { AudienceClient, ConfigurationError, DOCUMENTED_WINDOWS, RateLimiter } from "audience-sdk";
import { describe, expect, it, onTestFinished, vi } from "vitest";

const service = { baseUrl: "https://audience.test", apiKey: "a-key" };
/** The limiter of a client that was given none. */
const defaultLimiter = () => new AudienceClient(service).rateLimiter;

describe("the options of a limiter", () => {
  it("default to the documented windows", () => {
    const windows = new RateLimiter().usage().windows.map(({ limit, intervalMs }) => ({ limit, intervalMs }));
    expect(windows).toEqual(DOCUMENTED_WINDOWS);
  });

  it("may be undefined, which means absent", () => {
    const none = {
      windows: undefined,
      maxWaitMs: undefined,
      store: undefined,
      snapshot: undefined,
      clock: undefined,
    };
    expect(new RateLimiter(none).usage().windows).toHaveLength(3);
  });

  it.each(["windows", "store", "snapshot", "clock"])(
    "of a client keep the limiter of the process if its `%s` is undefined",
    (name) => {
      const absent = { [name]: undefined };
      const client = new AudienceClient({
        ...service,
        rateLimiter: { ...absent, maxWaitMs: 5 },
      });
      const view = client.withOptions({ rateLimiter: { ...absent, maxQueued: 1 } });

      expect(client.rateLimiter).toBe(defaultLimiter());
      expect(view.rateLimiter).toBe(defaultLimiter());
    },
  );

  it.each([
    ["options", null],
    ["maxWait", { maxWait: 5 }],
    ["windows", { windows: [] }],
    ["windows", { windows: { limit: 1, intervalMs: 1 } }],
    ["windows[0]", { windows: [null] }],
    ["windows[0].limit", { windows: [{ limit: 0, intervalMs: 1_000 }] }],
    ["windows[0].limit", { windows: [{ limit: 1.5, intervalMs: 1_000 }] }],
    [
      "windows[1].intervalMs",
      {
        windows: [
          { limit: 1, intervalMs: 1 },
          { limit: 1, intervalMs: 0 },
        ],
      },
    ],
    ["windows[0].intervalMs", { windows: [{ limit: 1, intervalMs: Infinity }] }],
    ["maxWaitMs", { maxWaitMs: -1 }],
    ["maxWaitMs", { maxWaitMs: "1" }],
    ["maxWaitMs", { maxWaitMs: Number.NaN }],
    ["maxQueued", { maxQueued: -1 }],
    ["maxQueued", { maxQueued: 1.5 }],
    ["reserve", { reserve: -0.1 }],
    ["reserve", { reserve: 0.91 }],
    ["reserve", { reserve: "0.1" }],
    ["store", { store: {} }],
    ["store", { store: "redis://" }],
    ["store", { store: { open: () => undefined } }],
    ["clock", { clock: 5 }],
    ["clock", { clock: () => new Date() }],
  ])("are refused if invalid, with the name `%s` in the error (%j)", (name, options) => {
    const build = () => new RateLimiter(options as never); // on purpose of a wrong type
    expect(build).toThrow(ConfigurationError);
    expect(build).toThrow(name);
  });

  it.each([
    [{ windows: [] }, "windows must not be empty."],
    [
      { windows: [{ limit: 1, intervalMs: Infinity }] },
      "windows[0].intervalMs must be a number of milliseconds above 0, not Infinity.",
    ],
    [
      { store: {} },
      "store must be a rate limit store, as `redisRateLimitStore(redis)` gives, not an object.",
    ],
    [
      { clock: 5 },
      "clock must be a function that returns milliseconds, as `() => performance.now()`, not a number.",
    ],
    [
      { store: { open: () => undefined } },
      "store must be a rate limit store, as `redisRateLimitStore(redis)` gives, not an object.",
    ],
    [5, "The options of RateLimiter must be an object, not a number."],
  ])("are refused with the rule in the message (%j)", (options, message) => {
    const build = () => new RateLimiter(options as never); // on purpose of a wrong type
    expect(build).toThrow(new ConfigurationError(message));
  });
});

describe("the limiter of the process", () => {
  it("is the same for every client and every copy of the package", () => {
    const shared = defaultLimiter();
    expect(shared).toBeInstanceOf(RateLimiter);
    expect(defaultLimiter()).toBe(shared);
    expect(Reflect.get(globalThis, Symbol.for("audience-sdk.rate-limiter"))).toBe(shared);
  });

  it("is separate for each client on Cloudflare Workers, where no request may wait for another's timer", () => {
    vi.stubGlobal("navigator", { userAgent: "Cloudflare-Workers" });
    onTestFinished(() => void vi.unstubAllGlobals());

    expect(defaultLimiter()).not.toBe(defaultLimiter());
  });
});
