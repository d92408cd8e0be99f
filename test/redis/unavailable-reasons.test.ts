import { inspect } from "node:util";
import { AudienceClient, RateLimiter } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { redisRateLimitStore, type RedisLike, type RedisRateLimitStoreOptions } from "audience-sdk/redis";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { clientKinds, type Connection } from "./clients.ts";
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
    await redis.set("{spoilt}:permits", "no sorted set");
    await redis.acl("SETUSER", "default", "resetpass", `>${password}`);
  });
  afterAll(async () => {
    redis.disconnect();
    await Promise.all([server.end(), replica.end()]);
  });

  const cases: [why: string, word: string, to: () => Connection, key: string][] = [
    ["no right to run scripts", "NOPERM", () => ({ port: server.port, username: "guest", password }), "any"],
    [
      "a wrong password",
      "WRONGPASS|NOAUTH",
      () => ({ port: server.port, username: "guest", password: `${password}?` }),
      "any",
    ],
    ["no password", "NOAUTH", () => ({ port: server.port }), "any"],
    ["a replica", "READONLY", () => ({ port: replica.port }), "any"],
    [
      "a key that holds something else",
      "WRONGTYPE",
      () => ({ port: server.port, username: "member", password }),
      "spoilt",
    ],
  ];

  describe.each(clientKinds)("with $name", ({ open }) => {
    it.each(cases)(
      '%s: is in the error with "reject", and in one warning with "local"',
      async (_why, word, connection, key) => {
        const { client, close } = open(connection());
        onTestFinished(close);

        const rejecting = await errorsAndWarnings(client, { key, onUnavailable: "reject" });
        const local = await errorsAndWarnings(client, { key, onUnavailable: "local" });

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

  it.each([
    ["the message of the Redis client", new Error("Connection is closed."), "Connection is closed"],
    ["the first of several lines", new Error("one\ntwo"), "one"],
    [
      "the error of the first of several addresses",
      new AggregateError([new Error("connect ECONNREFUSED ::1:1")], ""),
      "connect ECONNREFUSED ::1:1",
    ],
    ["the name of an error without a message", new RangeError(""), "RangeError"],
    ["that the error gives no reason", { hidden: password }, "no reason given"],
    ["at most 200 characters", new Error("x".repeat(300)), `${"x".repeat(200)}…`],
    [
      "a URL without its user and password",
      new Error(`connect to rediss://me:${password}@host:6379 failed`),
      "connect to rediss://host:6379 failed",
    ],
    [
      "a command without its arguments",
      new Error(`ERR unknown command 'HELLO', with args beginning with: '3' '${password}'`),
      "ERR unknown command 'HELLO'",
    ],
    ["no text after AUTH", new Error(`bad line: AUTH ${password}`), "bad line: AUTH …"],
  ])("is %s", async (_what, error, reason) => {
    const { errors } = await errorsAndWarnings(failingWith(error), { onUnavailable: "reject" });

    expect(errors[1]).toBe(`No permit. The rate limit store is unavailable: ${reason}.`);
  });

  it("is the timeout, if Redis does not respond", async () => {
    const silent = { evalsha: () => new Promise(() => {}), eval: () => new Promise(() => {}) };

    const { errors } = await errorsAndWarnings(silent, { onUnavailable: "reject" });

    expect(errors[1]).toBe("No permit. The rate limit store is unavailable: no reply within 1000 ms.");
  });
});
