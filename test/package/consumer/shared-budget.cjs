// Two limiters, like those of two processes, with one budget in the Redis of REDIS_URL.
exports.run = async function ({ sdk, mocking, stores }) {
  const { Redis } = require("ioredis");
  const redis = new Redis(process.env.REDIS_URL);
  const windows = [{ limit: 3, intervalMs: 3_600_000 }];
  const store = stores.redisRateLimitStore(redis, { key: `budget-${Math.random()}` });
  const mock = mocking.createMockService();
  const [one, other] = [1, 2].map(
    () =>
      new sdk.AudienceClient({ ...mock.clientOptions, rateLimiter: new sdk.RateLimiter({ windows, store }) }),
  );
  for (let call = 0; call < 3; call += 1) await one.v1.customers.list();
  const refused = await other.v1.customers.list({}, { maxWaitMs: 100 }).then(
    () => undefined,
    (error) => error.code,
  );
  await Promise.all([one.close(), other.close()]);
  redis.disconnect();
  return { refused, requests: mock.requests.length };
};

exports.expected = { refused: "rate_limit_wait", requests: 3 };
