import { RateLimiter } from "audience-sdk";
import { expect, it } from "vitest";
import { collectRun, createFixture, deferred, flushEventLoop, rows, until } from "../bulk/fixture.ts";

// It had its permit and waited for its key when a 429 paused all calls; then the run was aborted.
it("A row that was never sent has no result after an abort, though it once had a permit", async () => {
  const rateLimiter = new RateLimiter();
  const { promise: isRefused, resolve: giveKey } = deferred();
  const { promise: hasBothPermits, resolve: secondAsks } = deferred();
  let asked = 0;
  const apiKey = async () => {
    if (++asked === 2) {
      secondAsks();
      await isRefused;
    }
    return "mock-api-key";
  };
  const fetch = async (url: string, init: RequestInit) => {
    await hasBothPermits;
    return await mock.fetch(url, init);
  };
  const faults = [{ kind: "429", retryAfter: 60 } as const];
  const { audience, upsert, mock } = createFixture({ faults }, { rateLimiter, apiKey, fetch });
  const stop = new AbortController();
  const run = collectRun(audience.bulk(rows(2), upsert, { signal: stop.signal }));
  await until(() => rateLimiter.usage().pausedMs > 0);
  giveKey();
  await flushEventLoop();

  stop.abort();

  expect((await run).results).toMatchObject([{ index: 0, status: "failed" }]);
  expect(mock.requests).toHaveLength(1);
});
