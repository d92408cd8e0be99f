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

  // One is enough: the timer is the same for all.
  it.each(clientKinds.slice(0, 1))(
    "Redis replies to $name: that is no outage, and the call gets its permit",
    async ({ open }) => {
      const { client, ready, close } = open({ port: server.port });
      onTestFinished(close);
      await ready();
      const limiter = new RateLimiter({
        windows,
        store: redisRateLimitStore(client, { onUnavailable: "reject" }),
      });
      const storeWarning = vi.fn();

      const permit = limiter.acquire({ observer: { storeWarning } });
      // The client has written the request once this turn of the event loop has ended; Redis replies within milliseconds.
      setImmediate(() => blockFor(1_300));
      (await permit).release("unsent");
      await limiter.settled();

      expect(storeWarning).not.toHaveBeenCalledWith(expect.any(String));
    },
  );
});
