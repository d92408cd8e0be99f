import { inspect } from "node:util";
import { AudienceClient, RateLimiter } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { redisRateLimitStore, type RedisLike, type RedisRateLimitStoreOptions } from "audience-sdk/redis";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { clientKinds, type Connection } from "./clients.ts";
import { MemoryRedis } from "./memory-redis.ts";
import { RedisServer } from "./redis-server.ts";
import { describeWithRedis } from "./with-redis.ts";

const password = "a-pass-word-0123456789";

/** The errors and warnings of two calls, one after the other, of a client whose limiter uses this Redis. */
async function errorsAndWarnings(client: RedisLike, options: RedisRateLimitStoreOptions) {
  const mock = createMockService();
  const warnings: string[] = [];
  const logger = { debug() {}, info() {}, error() {}, warn: (line: string) => void warnings.push(line) };
  const rateLimiter = new RateLimiter({ store: redisRateLimitStore(client, options) });
  const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter, logger });
  onTestFinished(() => audience.close());
  const errors: Error[] = [];
  for (let call = 0; call < 2; call += 1) {
    await audience.v1.contactGroups.list().then(
      () => {},
      (error: unknown) => errors.push(error as Error), // every error of the client is an Error
    );
  }
  expect(inspect({ errors, warnings }, { depth: 9, showHidden: true })).not.toContain(password);
  return { errors: errors.map(({ message }) => message), warnings };
}

describeWithRedis("the reason why Redis is unavailable", () => {
  let server: RedisServer;
  let replica: RedisServer;
  let redis: Redis;

  beforeAll(async () => {
    [server, replica] = await Promise.all([RedisServer.start(), RedisServer.start()]);
    const follower = new Redis(replica.port);
    await follower.replicaof("127.0.0.1", server.port);
    follower.disconnect();
    redis = new Redis(server.port);
    await redis.acl("SETUSER", "guest", "reset", "on", `>${password}`, "~*", "+info", "+ping");
    await redis.acl("SETUSER", "member", "reset", "on", `>${password}`, "~*", "+@all");
    await redis.acl("SETUSER", "default", "resetpass", `>${password}`);
  });
  afterAll(async () => {
    redis.disconnect();
    await Promise.all([server.end(), replica.end()]);
  });

  const cases: [why: string, word: string, to: () => Connection][] = [
    ["no right to run scripts", "NOPERM", () => ({ port: server.port, username: "guest", password })],
    [
      "a wrong password",
      "WRONGPASS|NOAUTH",
      () => ({ port: server.port, username: "guest", password: `${password}?` }),
    ],
    ["no password", "NOAUTH", () => ({ port: server.port })],
    ["a replica", "READONLY", () => ({ port: replica.port })],
  ];

  describe.each(clientKinds)("with $name", ({ open }) => {
    it.each(cases)(
      '%s: is in the error with "reject", and in one warning with "local"',
      async (_why, word, connection) => {
        const { client, close } = open(connection());
        onTestFinished(close);

        const rejecting = await errorsAndWarnings(client, { onUnavailable: "reject" });
        const local = await errorsAndWarnings(client, { onUnavailable: "local" });

        expect(rejecting).toEqual({
          errors: Array(2).fill(expect.stringMatching(`rate limit store is unavailable: .*(${word})`)),
          warnings: [],
        });
        expect(local).toEqual({
          errors: [],
          warnings: [expect.stringMatching(`rate limit store is unavailable: .*(${word}).*with its share`)],
        });
      },
    );
  });
});

describe("the reason in the error", () => {
  const failingWith = (reason: unknown): RedisLike => ({
    evalsha: () => Promise.reject(reason),
    eval: () => Promise.reject(reason),
  });

  const nameless = Object.assign(new Error(""), { name: "ClientClosedError" });

  it.each([
    ["the message of the error", new Error("connect ECONNREFUSED ::1:1"), "connect ECONNREFUSED ::1:1."],
    [
      "its first line, without full stops",
      new Error("Connection is closed... \nEVAL 0123"),
      "Connection is closed.",
    ],
    ["its name where it has no message", nameless, "ClientClosedError."],
    ["the message of the first of several errors", new AggregateError([new Error("no route")]), "no route."],
    ["no reason, if it is no Error", { hidden: password }, "no reason given."],
    ["the first word of a line with a URL", new Error(`connect rediss://me:${password}@host:1`), "connect."],
    ["the first word of a line with AUTH", new Error(`NOAUTH: send AUTH ${password}`), "NOAUTH:."],
    [
      "the first word of a line with arguments",
      new Error(`ERR unknown command 'HELLO', with args beginning with: '3' '${password}'`),
      "ERR.",
    ],
    ["at most 200 characters", new Error("x".repeat(201)), `${"x".repeat(200)}.`],
  ])("is %s", async (_what, error, reason) => {
    const { errors } = await errorsAndWarnings(failingWith(error), { onUnavailable: "reject" });

    expect(errors[1]).toBe(`No permit. The rate limit store is unavailable: ${reason}`);
  });

  it("is told also with a share that is less than one permit, and no warning then", async () => {
    const reason = new Error("ECONNREFUSED");
    const { errors, warnings } = await errorsAndWarnings(failingWith(reason), { localShare: 1 / 20 });

    expect(errors[1]).toMatch(
      /store is unavailable: ECONNREFUSED\. `localShare` of a limit is less than one/,
    );
    expect(warnings).toEqual([]);
  });

  it("is told before any wait that comes of it, and such a wait has no other reason", async () => {
    vi.useFakeTimers();
    const mock = createMockService();
    const lines: string[] = [];
    const rateLimiter = new RateLimiter({ store: redisRateLimitStore(failingWith(new Error("gone"))) });
    const logger = { warn: (line: string) => void lines.push(line) };
    const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter, logger });
    onTestFinished(() => audience.close());

    for (let call = 0; call < 40; call += 1)
      void audience.v1.contactGroups.get("a", { priority: 9 }).catch(() => {});
    await vi.advanceTimersByTimeAsync(9_000);

    expect(lines[0]).toMatch(/store is unavailable: gone/);
    expect(lines.slice(1).filter((line) => !/waits \d+ ms for the rate limit$/.test(line))).toEqual([]);
    expect(lines.length).toBeGreaterThan(1);
  });

  it("is the timeout, if Redis does not respond", async () => {
    const silent = { evalsha: () => new Promise(() => {}), eval: () => new Promise(() => {}) };

    const { errors } = await errorsAndWarnings(silent, { onUnavailable: "reject" });

    expect(errors[1]).toBe("No permit. The rate limit store is unavailable: no reply within 1000 ms.");
  });
});

// Timers of one moment run in the order in which they were set, and all of them before what has arrived is read.
it("A reply that arrives as its second has passed is none of an outage", async () => {
  vi.useFakeTimers();
  const after = (ms: number, run: () => void) => Number(setTimeout(run, ms));
  const redis = new MemoryRedis({ time: { now: () => performance.now(), after }, delayMs: () => 500 });
  const store = redisRateLimitStore(redis, { onUnavailable: "reject" });
  const limiter = new RateLimiter({ store });

  const permit = limiter.acquire();
  await vi.advanceTimersByTimeAsync(2_000);
  (await permit).release("unsent");

  expect(limiter.storeWarning).toBeUndefined();
});
