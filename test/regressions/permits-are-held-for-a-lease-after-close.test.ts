import { AudienceClient, RateLimiter } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it, vi } from "vitest";
import { storeOf } from "../../src/redis/redis-store.ts";
import { MemoryScripts } from "../redis/memory-scripts.ts";

function createWorld() {
  vi.useFakeTimers();
  const time = {
    now: () => performance.now(),
    after: (ms: number, run: () => void) => Number(setTimeout(run, ms)),
  };
  const store = new MemoryScripts({ time, delayMs: () => 10, leaseMs: 10_000 });
  const mock = createMockService();
  const rateLimiter = new RateLimiter({ store: storeOf(store, store) });
  const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter });
  return { store, mock, audience };
}

// The process ended before Redis had the report, and Redis held the permit for its lease.
it("close() resolves once Redis knows that the last call has ended", async () => {
  const { store, audience } = createWorld();
  const call = audience.v1.contactGroups.get("mock-list");
  await vi.advanceTimersByTimeAsync(100);
  await call;
  const second = audience.v1.contactGroups.get("mock-list");
  await vi.advanceTimersByTimeAsync(20);
  await second;

  const closed = audience.close().then(() => store.inFlight);
  await vi.advanceTimersByTimeAsync(100);

  expect(await closed).toBe(0);
});

it("close() returns the permits that Redis grants to calls that it has rejected", async () => {
  const { store, audience } = createWorld();
  const call = audience.v1.contactGroups.get("mock-list");
  const rejected = call.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(15);
  expect(store.inFlight).toBe(1);

  const closed = audience.close().then(() => store.inFlight);
  await vi.advanceTimersByTimeAsync(100);

  expect(await rejected).toMatchObject({ code: "closed", outcome: "not-sent" });
  expect(await closed).toBe(0);
});

it("close() waits for a Redis that does not reply no longer than for any other reply", async () => {
  const { store, audience } = createWorld();
  const call = audience.v1.contactGroups.get("mock-list");
  await vi.advanceTimersByTimeAsync(20);
  await call;
  store.network = "hangs";
  let isClosed = false;

  void audience.close().then(() => (isClosed = true));
  await vi.advanceTimersByTimeAsync(1_000);

  expect(isClosed).toBe(true);
});
