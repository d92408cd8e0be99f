import { RateLimiter } from "audience-sdk";
import { redisRateLimitStore } from "audience-sdk/redis";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { blockFor } from "../transport/answering-thread.ts";
import { clientKinds } from "./clients.ts";
import { RedisServer } from "./redis-server.ts";
import { describeWithRedis } from "./with-redis.ts";

const windows = [{ limit: 10, intervalMs: 1_000 }];

describeWithRedis("While the event loop is blocked for over a second", () => {
  let server: RedisServer;
  beforeAll(async () => void (server = await RedisServer.start()));
  afterAll(() => server.end());

  // One client is enough: the timer is the same for all. One of a second is due while the loop is blocked, or right after.
  it.each([1_001, 1_300])(
    "Redis replies: that is no outage, and the call gets its permit (%i ms)",
    async (blockedMs) => {
      const { client, ready, close } = clientKinds[0]!.open({ port: server.port });
      onTestFinished(close);
      await ready();
      const limiter = new RateLimiter({
        windows,
        store: redisRateLimitStore(client, { onUnavailable: "reject" }),
      });
      const storeWarning = vi.fn();

      const askedAt = performance.now();
      const permit = limiter.acquire({ observer: { storeWarning } });
      // The client has written the request once this turn of the event loop has ended; Redis replies within milliseconds.
      setImmediate(() => blockFor(askedAt + blockedMs - performance.now()));
      (await permit).release("unsent");
      await limiter.settled();

      expect(storeWarning).not.toHaveBeenCalledWith(expect.any(String));
    },
  );
});
