// It reaches into `src` for the memory of a process, to count what is asked of it: a store of a user's own has no documented
// methods.
import { AudienceClient, RateLimiter, type RateLimitStore, write } from "audience-sdk";
import { expect, it, onTestFinished, vi } from "vitest";
import { memoryStore, type Reply } from "../../src/rate-limiter/store.ts";
import { spend } from "./virtual-time.ts";

/**
 * A limiter whose window is used up, and how often its store was asked for permits, and for what an estimate needs.
 * `tells` is how the store tells a reply.
 */
function countingLimiter(
  options: ConstructorParameters<typeof RateLimiter>[0] = {},
  tells = (reply: Reply | Promise<Reply>) => reply,
) {
  const asked = { takes: 0, estimates: 0, restored: [] as string[] };
  const store: RateLimitStore = {
    onUnavailable: "local",
    localShare: 1,
    leaseMs: 10_000,
    open(user) {
      const memory = memoryStore(user);
      asked.restored = user.log.permits(0).map(({ id }) => id);
      return {
        ...memory,
        take(ask, now) {
          asked.takes += 1;
          return tells(memory.take(ask, now));
        },
        known: (now) => ((asked.estimates += 1), memory.known(now)),
      };
    },
  };
  const windows = [{ limit: 1, intervalMs: 3_600_000 }];
  const limiter = new RateLimiter({ windows, store, clock: () => 0, ...options });
  return { limiter, asked };
}

const client = (rateLimiter: RateLimiter) =>
  new AudienceClient({
    baseUrl: "https://audience.test",
    apiKey: "a-key-of-the-tests",
    rateLimiter,
    fetch: async () => Response.json({ data: { id: "1" } }),
  });

it.each([5, 9])(
  "for 200 calls of one turn with deadlines, at priority %i, the store is asked twice, and the estimate made once for each class",
  async (priority) => {
    const { limiter, asked } = countingLimiter();
    const audience = client(limiter);
    const options = { priority, deadlineMs: 1e12 };
    await audience.v1.customers.get("1");
    Object.assign(asked, { takes: 0, estimates: 0 });
    const calls = Array.from({ length: 200 }, () => audience.v1.customers.get("1", options));
    const ended = Promise.allSettled(calls);
    expect(limiter.usage().queued).toBe(200);
    // With `usage` itself.
    expect(asked.takes).toBeLessThanOrEqual(2);
    expect(asked.estimates).toBeLessThanOrEqual(3);
    await audience.close();
    await ended;
  },
);

it("for 1,000 calls of one turn with deadlines, of priorities 5 and 9 in turn, the estimate is made each time a fifth more goes first", async () => {
  const { limiter, asked } = countingLimiter();
  await spend(limiter, 1);
  Object.assign(asked, { takes: 0, estimates: 0 });
  const end = new AbortController();
  for (let call = 0; call < 1_000; call += 1)
    limiter
      .acquire({ priority: call % 2 ? 9 : 5, maxWaitMs: 1e12, signal: end.signal })
      .catch(() => undefined);
  expect(limiter.usage().queued).toBe(1_000);
  expect(asked.estimates).toBeLessThan(70);
  end.abort();
});

it("for 100 calls of priorities 5 and 9 in turn that are aborted, the store is asked once: as the last one of priority 5 has left", async () => {
  const { limiter, asked } = countingLimiter();
  await spend(limiter, 1);
  const end = new AbortController();
  for (let call = 0; call < 100; call += 1)
    limiter.acquire({ priority: call % 2 ? 9 : 5, signal: end.signal }).catch(() => undefined);
  expect(limiter.usage().queued).toBe(100);
  Object.assign(asked, { takes: 0 });
  end.abort();
  expect(limiter.usage().queued).toBe(0);
  expect(asked.takes).toBe(1);
});

it("an estimate serves the calls of its turn, however long it takes to make it", async () => {
  let now = 0;
  const { limiter, asked } = countingLimiter({
    // Each look at the clock takes half a second.
    clock: () => (now += 500),
  });
  await spend(limiter, 1);
  Object.assign(asked, { takes: 0, estimates: 0 });
  const end = new AbortController();
  for (let call = 0; call < 200; call += 1)
    limiter.acquire({ priority: 9, maxWaitMs: 1e12, signal: end.signal }).catch(() => undefined);
  expect(limiter.usage().queued).toBe(200);
  // With `usage` itself, and one for each class.
  expect(asked.estimates).toBeLessThanOrEqual(3);
  end.abort();
});

it("the permit of a call that has left while the store was asked is back at once", async () => {
  const { limiter } = countingLimiter({}, (reply) => Promise.resolve(reply));
  const controller = new AbortController();
  const left = limiter.acquire({ signal: controller.signal });
  controller.abort("gone");
  await expect(left).rejects.toBe("gone");
  expect(limiter.usage()).toMatchObject({ inFlight: 0, windows: [{ used: 0 }] });
});

it("the permits of a snapshot without names get one each, by which a store can count them", async () => {
  const before = new RateLimiter();
  await spend(before, 3);
  const { asked } = countingLimiter({ snapshot: before.snapshot() });
  expect(new Set(asked.restored).size).toBe(3);
});

it("for a call that may not wait long enough no timer is set", async () => {
  const { limiter } = countingLimiter({});
  const audience = client(limiter);
  await audience.v1.customers.get("1");
  const waits = audience.v1.customers.get("1");
  const setTimer = vi.spyOn(globalThis, "setTimeout");
  onTestFinished(() => setTimer.mockRestore());

  const calls = Array.from({ length: 100 }, () => audience.v1.customers.get("1", { deadlineMs: 5 }));
  const ends = await Promise.allSettled(calls);

  expect(setTimer).not.toHaveBeenCalled();
  expect(ends[99]).toMatchObject({ reason: { code: "rate_limit_wait", outcome: "not-sent" } });
  await Promise.all([audience.close(), expect(waits).rejects.toMatchObject({ name: "ClientClosedError" })]);
});

it("of a call beyond `maxQueued` nothing is read or made, and the estimate for all of a turn is one", async () => {
  const { limiter, asked } = countingLimiter({ maxQueued: 1 });
  const audience = client(limiter);
  await audience.v1.customers.get("1");
  const waits = audience.v1.customers.get("1");
  Object.assign(asked, { takes: 0, estimates: 0 });
  let read = 0;
  const contact = {
    get email() {
      read += 1;
      return "ada@example.com";
    },
  };
  const options = {
    get headers() {
      read += 1;
      return {};
    },
  };
  const results = await Promise.allSettled(
    Array.from({ length: 1_000 }, () => audience.v1.customers.upsert(contact, options)),
  );
  const value = {
    ...write.v1.customers.upsert(contact),
    get options() {
      read += 1;
      return {};
    },
  };
  const request = { operation: "v1.customers.upsert", attempts: 0 };
  await expect(audience.send(value, options)).rejects.toMatchObject({ code: "rate_limit_wait", request });
  const noWrite = audience.send({ operation: "v1.customers.get" } as never, options);
  await expect(noWrite).rejects.toMatchObject({ code: "rate_limit_wait" });
  await expect(noWrite).rejects.not.toHaveProperty("request");
  expect(new Set(results.map(({ status }) => status))).toEqual(new Set(["rejected"]));
  expect(results[999]).toMatchObject({
    reason: { code: "rate_limit_wait", outcome: "not-sent", request: { attempts: 0 } },
  });
  expect(read).toBe(0);
  const abort = vi.spyOn(AbortController.prototype, "abort");
  const loop = async () => {
    for await (const customer of audience.v1.customers.list()) throw new Error(`${customer.id} came`);
  };
  await expect(loop()).rejects.toMatchObject({ code: "rate_limit_wait" });
  onTestFinished(() => abort.mockRestore());
  expect(abort).not.toHaveBeenCalled();
  expect(asked.takes).toBe(0);
  expect(asked.estimates).toBeLessThanOrEqual(1);
  await Promise.all([audience.close(), expect(waits).rejects.toMatchObject({ name: "ClientClosedError" })]);
});
