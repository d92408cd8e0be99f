import { AudienceClient, RateLimiter, write } from "audience-sdk";
import { redisRateLimitStore } from "audience-sdk/redis";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { MemoryCheckpoint } from "../bulk/memory-checkpoint.ts";
import { eventually } from "../eventually.ts";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryRedis } from "../redis/memory-redis.ts";

beforeEach(() => void vi.useFakeTimers());

const contact = (name: number) => ({ email: `${name}@example.com` });

/** A service that refuses the first call with a pause of two seconds, and a log of the arrivals with their keys. */
function refusingOnce(until?: Promise<void>) {
  const arrived: { at: number; url: string; key: string | null }[] = [];
  const start = performance.now();
  const fetch = async (url: string, init: RequestInit) => {
    const key = new Headers(init.headers).get("x-api-key");
    arrived.push({ at: performance.now() - start, url: url.slice(-1), key });
    if (arrived.length > 1) return Response.json({ data: { id: "1" } });
    await until;
    return new Response("{}", { status: 429, headers: { "retry-after": "2" } });
  };
  return { arrived, options: { baseUrl: "https://api.example.com", apiKey: "abcdefgh", fetch } };
}

const later = (delayMs: number) => new Promise<void>((resolve) => void setTimeout(resolve, delayMs));

describe("A call that has its permit, and is not sent yet when a 429 comes,", () => {
  it("waits for the end of its pause, if it waited for its key, and asks for a new key then", async () => {
    const { arrived, options } = refusingOnce();
    let asked = 0;
    const rateLimiter = new RateLimiter();
    const apiKey = async () => {
      const key = `key-number-${++asked}`;
      if (asked > 1) await later(300);
      return key;
    };
    const audience = new AudienceClient({ ...options, apiKey, rateLimiter });

    const early = Array.from({ length: 5 }, (_, index) => audience.v1.customers.get(`${index}`));
    await vi.advanceTimersByTimeAsync(400);
    expect(rateLimiter.usage()).toMatchObject({ inFlight: 0, queued: 5 });
    const late = audience.v1.customers.get("9");
    await vi.advanceTimersByTimeAsync(10_000);
    await Promise.all([...early, late]);

    expect(arrived[1]!.at).toBeGreaterThanOrEqual(2_000);
    // Calls that had a permit before the pause go first.
    expect(arrived.map(({ url }) => url)).toEqual(["0", "0", "1", "2", "3", "4", "9"]);
    // The client asked for five keys before the pause, and used only the first.
    expect(arrived.map(({ key }) => Number(key?.split("-").at(-1)) > 5)).toEqual([
      false,
      ...Array<boolean>(6).fill(true),
    ]);
  });

  it("rejects if the pause is longer than its `maxWaitMs`", async () => {
    const { arrived, options } = refusingOnce();
    let asked = 0;
    const apiKey = async () => {
      if (asked++ > 0) await later(300);
      return "abcdefgh";
    };
    const audience = new AudienceClient({ ...options, apiKey, rateLimiter: new RateLimiter() });

    const calls = Promise.allSettled([
      audience.v1.customers.get("0"),
      audience.v1.customers.get("1", { maxWaitMs: 1_000 }),
    ]);
    await vi.advanceTimersByTimeAsync(10_000);

    expect((await calls)[1]).toMatchObject({ reason: { code: "rate_limit_wait", outcome: "not-sent" } });
    expect(arrived.map(({ url }) => url)).toEqual(["0", "0"]);
  });

  it("waits for the end of its pause behind calls that came earlier, if it is a row that waited for its checkpoint", async () => {
    // The hashes of rows need real time.
    vi.useRealTimers();
    const waiting: (() => void)[] = [];
    let isSlow = true;
    let respond = (): void => undefined;
    const { arrived, options } = refusingOnce(new Promise<void>((resolve) => void (respond = resolve)));
    const rateLimiter = new RateLimiter({ windows: [{ limit: 5, intervalMs: 1_000 }], reserve: 0 });
    const audience = new AudienceClient({ ...options, rateLimiter });
    let begun = 0;
    /** The records of all rows but the first are slow. */
    class SlowCheckpoint extends MemoryCheckpoint {
      override async put(name: string, line: string, flush: boolean) {
        if (name.startsWith("row:") && isSlow && ++begun > 1)
          await new Promise<void>((resolve) => void waiting.push(resolve));
        await super.put(name, line, flush);
      }
    }

    const run = audience
      .bulk([0, 1, 2, 3, 4], (row) => write.v1.customers.upsert(contact(row)), {
        checkpoint: new SlowCheckpoint(),
        key: String,
      })
      .summary();
    await eventually(() => expect([arrived.length, waiting.length]).toEqual([1, 4]));
    respond();
    await eventually(() => expect(rateLimiter.usage().pausedMs).toBeGreaterThan(0));
    isSlow = false;
    for (const isRecorded of waiting) isRecorded();
    await eventually(() => expect(rateLimiter.usage()).toMatchObject({ inFlight: 0, queued: 4 }));
    await audience.v1.customers.get("9");

    expect(await run).toMatchObject({ succeeded: 5 });
    expect(arrived).toHaveLength(7);
    expect(arrived[1]).toMatchObject({ url: "9" });
    expect(arrived[1]!.at).toBeGreaterThanOrEqual(2_000);
  });

  it("waits for the end of a pause that another process reported to Redis, too", async () => {
    vi.useRealTimers();
    const time = new VirtualTime();
    const store = redisRateLimitStore(new MemoryRedis({ time }));
    const limiters = [1, 2].map(() => new RateLimiter({ clock: time.now, store }));
    const sentAt: number[] = [];
    let giveKey = (_key: string): void => undefined;
    const [first, second] = limiters.map(
      (rateLimiter, index) =>
        new AudienceClient({
          baseUrl: "https://api.example.com",
          apiKey: index === 0 ? "abcdefgh" : () => new Promise((resolve) => (giveKey = resolve)),
          rateLimiter,
          fetch: async () => {
            sentAt.push(time.now());
            return sentAt.length === 1
              ? new Response("{}", { status: 429, headers: { "retry-after": "5" } })
              : Response.json({ data: { id: "1" } });
          },
        }),
    );
    const ended: Promise<unknown>[] = [];

    await time.run(() => {
      ended.push(second!.v1.customers.get("1"));
      time.at(500, () => ended.push(first!.v1.customers.get("1", { maxRetries: 0 }).catch(() => undefined)));
      // The reply of Redis to this acquire shows the pause to the second limiter.
      time.at(1_000, () => ended.push(second!.v1.customers.get("2").catch(() => undefined)));
      time.at(2_000, () => giveKey("abcdefgh"));
      for (const at of [7_000, 8_000]) time.at(at, () => giveKey("abcdefgh"));
    }, 20_000);

    expect(limiters[1]!.usage().queued).toBe(0);
    expect(sentAt[1]).toBeGreaterThanOrEqual(5_500);
  });

  it("is not delayed without a limiter", async () => {
    const { arrived, options } = refusingOnce();
    let asked = 0;
    const apiKey = async () => {
      if (asked++ > 0) await later(300);
      return "abcdefgh";
    };
    const audience = new AudienceClient({ ...options, apiKey, rateLimiter: false });

    const calls = [0, 1].map((name) => audience.v1.customers.get(`${name}`));
    await vi.advanceTimersByTimeAsync(10_000);
    await Promise.all(calls);

    expect(arrived.map(({ url }) => url)).toEqual(["0", "1", "0"]);
    expect(arrived[1]!.at).toBeLessThan(1_000);
  });
});

/** A service that refuses the first call: the headers arrive at once, the body two seconds later. */
function refusingSlowly(retryAfter: string) {
  const arrived: { at: number; name: string }[] = [];
  const start = performance.now();
  const fetch = async (url: string) => {
    arrived.push({ at: performance.now() - start, name: url.slice(url.lastIndexOf("/") + 1) });
    if (arrived.length > 1) return Response.json({ data: { id: "1" } });
    const body = new ReadableStream({
      start: (controller) => void setTimeout(() => controller.close(), 2_000),
    });
    return new Response(body, { status: 429, headers: { "retry-after": retryAfter } });
  };
  const rateLimiter = new RateLimiter();
  const audience = new AudienceClient({
    baseUrl: "https://api.example.com",
    apiKey: "abcdefgh",
    fetch,
    rateLimiter,
  });
  return { arrived, audience, rateLimiter };
}

describe("The pause of a 429", () => {
  it("begins with its headers, even if its body is slow, and its retry waits from then on", async () => {
    const { arrived, audience, rateLimiter } = refusingSlowly("3");

    const calls = [audience.v1.customers.get("refused")];
    for (let number = 1; number <= 7; number++) {
      await vi.advanceTimersByTimeAsync(200);
      expect(rateLimiter.usage().pausedMs).toBe(3_000 - 200 * number);
      calls.push(audience.v1.customers.get(`${number}`));
    }
    await vi.advanceTimersByTimeAsync(1_500);
    // The end of the body changes nothing.
    expect(rateLimiter.usage().pausedMs).toBe(100);
    expect(arrived).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(5_000);
    await Promise.all(calls);

    expect(arrived.map(({ name }) => name)).toEqual(["refused", "refused", ..."1234567"]);
    expect(arrived[1]!.at).toBeGreaterThanOrEqual(3_000);
    expect(arrived[1]!.at).toBeLessThan(3_005);
    // The rate is halved only once for one 429.
    expect(arrived.filter(({ at }) => at >= 3_000 && at < 4_000)).toHaveLength(5);
  });

  it("delays no other call for longer, if it ends before its body", async () => {
    const { arrived, audience } = refusingSlowly("1");

    const calls = ["refused", "other"].map((name) => audience.v1.customers.get(name));
    await vi.advanceTimersByTimeAsync(500);
    calls.push(audience.v1.customers.get("later"));
    await vi.advanceTimersByTimeAsync(10_000);
    await Promise.all(calls);

    const at = (name: string) => arrived.findLast((call) => call.name === name)!.at;
    expect(at("other")).toBe(0);
    expect(at("later")).toBeGreaterThanOrEqual(1_000);
    expect(at("later")).toBeLessThan(1_005);
    expect(at("refused")).toBeGreaterThanOrEqual(2_000);
    expect(at("refused")).toBeLessThan(2_005);
  });
});

describe("A 429 that comes although the limiter has kept to its limits", () => {
  /** Five reads, of which the first three requests are refused. */
  async function fiveReads(rateLimiter: RateLimiter | false, logLevel: "warn" | "error" = "warn") {
    let refusals = 0;
    const lines: string[] = [];
    const audience = new AudienceClient({
      baseUrl: "https://api.example.com",
      apiKey: "abcdefgh",
      rateLimiter,
      logLevel,
      logger: { warn: (line) => void lines.push(line.replace(/\(.*?\) /, "")) },
      fetch: async () =>
        ++refusals <= 3
          ? new Response("{}", { status: 429, headers: { "retry-after": "1" } })
          : Response.json({ data: { id: "1" } }),
    });
    const reads = [1, 2, 3, 4, 5].map(() => audience.v1.customers.get("1"));
    await vi.advanceTimersByTimeAsync(60_000);
    await Promise.all(reads);
    return lines;
  }

  const line =
    "audience-sdk: v1.customers.get, attempt 1 was refused for its rate, though the limiter has kept to its limits: another program behind this address, or another limit, is the likely cause";

  it("is one line at warn for each limiter, whichever of its clients has a logger for it", async () => {
    const rateLimiter = new RateLimiter();
    expect(await fiveReads(rateLimiter, "error")).toEqual([]);
    expect(await fiveReads(rateLimiter)).toEqual([line]);
    expect(await fiveReads(rateLimiter)).toEqual([]);
    expect(await fiveReads(new RateLimiter())).toEqual([line]);
  });

  it("is no line of a client without a limiter: its calls may well be too many", async () => {
    expect(await fiveReads(false)).toEqual([]);
  });
});
