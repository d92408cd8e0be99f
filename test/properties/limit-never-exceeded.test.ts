import * as fc from "fast-check";
import { expect, it } from "vitest";
import { type Permit, RateLimiter } from "../../src/rate-limiter/rate-limiter.ts";
import { refusedByFixed, refusedBySliding, refusedByTokenBucket } from "../rate-limiter/server-count.ts";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { runs } from "./runs.ts";

const windowArbitrary = fc.record({
  limit: fc.integer({ min: 1, max: 20 }),
  intervalMs: fc.integer({ min: 20, max: 20_000 }),
});

const callArbitrary = fc.record({
  askedAt: fc.integer({ min: 0, max: 30_000 }),
  priority: fc.integer({ min: 0, max: 9 }),
  outMs: fc.integer({ min: 1, max: 3_000 }),
  backMs: fc.integer({ min: 1, max: 3_000 }),
  // "lost": its answer never comes; it arrives up to 3 s after that is known.
  end: fc.constantFrom("answered", "answered", "answered", "refused", "lost", "unused"),
  givesUpAfterMs: fc.option(fc.integer({ min: 0, max: 5_000 }), { freq: 10 }),
  maxWaitMs: fc.option(fc.integer({ min: 0, max: 20_000 }), { freq: 10 }),
});
type Call = typeof callArbitrary extends fc.Arbitrary<infer T> ? T : never;

const loadArbitrary = fc.record({
  windows: fc.array(windowArbitrary, { minLength: 1, maxLength: 3 }),
  calls: fc.array(callArbitrary, { minLength: 1, maxLength: 150, size: "max" }),
  /** When the process is started anew, with the snapshot of the one before. */
  restartAt: fc.option(fc.integer({ min: 1, max: 30_000 }), { freq: 3 }),
  phases: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 3, maxLength: 3 }),
  /** How much faster the server's clock runs than ours. */
  slew: fc.double({ min: -0.0004, max: 0.0004, noNaN: true }),
});
type Load = typeof loadArbitrary extends fc.Arbitrary<infer T> ? T : never;

it("whatever the load, the server never counts more than the limit in any window", async () => {
  let arrived = 0;
  await fc.assert(
    fc.asyncProperty(loadArbitrary, async (load) => {
      const { arrivals, settled } = await play(load);
      arrived += arrivals.length;
      const seen = arrivals.map(({ at }) => at * (1 + load.slew));
      expect(refusedBySliding(seen, load.windows)).toBe(0);
      expect(refusedByFixed(seen, load.windows, load.phases)).toBe(0);
      expect(refusedByTokenBucket(seen, load.windows)).toBe(0);
      expect(settled).toBe(load.calls.length);
    }),
    runs(300),
  );
  expect(arrived).toBeGreaterThan(1_000);
});

/** When a call comes to the server. */
interface Arrival {
  at: number;
}

/** How long packets live in a slow network: nothing of an ended process comes later. */
const packetsLiveMs = 5_000;

/** Plays a load to its end: when the calls arrived at the server, and how many came to any end. */
async function play({ windows, calls, restartAt }: Load): Promise<{ arrivals: Arrival[]; settled: number }> {
  const time = new VirtualTime();
  let limiter = new RateLimiter({ clock: time.now, windows });
  const arrivals: Arrival[] = [];
  const underWay = new Set<Arrival>();
  let settled = 0;
  const start = (call: Call): void => {
    const asked = limiter;
    const controller = new AbortController();
    if (call.givesUpAfterMs !== null) time.after(call.givesUpAfterMs, () => controller.abort());
    const { priority, maxWaitMs } = call;
    const permit = asked.acquire({
      priority,
      signal: controller.signal,
      ...(maxWaitMs === null ? {} : { maxWaitMs }),
    });
    void Promise.resolve(permit).then(
      (granted) => {
        settled += 1;
        // A process that has ended sends nothing more.
        if (asked === limiter) send(asked, granted, call);
        else granted.release("unsent");
      },
      () => (settled += 1),
    );
  };
  const send = (asked: RateLimiter, permit: Permit, { outMs, backMs, end }: Call): void => {
    if (end === "unused") return permit.release("unsent");
    if (end === "lost") {
      const arrival = { at: time.now() + outMs + backMs };
      arrivals.push(arrival);
      underWay.add(arrival);
      time.after(outMs, () => {
        underWay.delete(arrival);
        permit.release("lost");
      });
      return;
    }
    arrivals.push({ at: time.now() + outMs });
    time.after(outMs + backMs, () => {
      permit.release("responded");
      if (end === "refused") asked.refused(backMs);
      else asked.succeeded();
    });
  };
  await time.run(() => {
    for (const call of calls) time.at(call.askedAt, () => start(call));
    if (restartAt !== null) {
      time.at(restartAt, () => {
        limiter = new RateLimiter({ clock: time.now, windows, snapshot: limiter.snapshot() });
        for (const arrival of underWay) arrival.at = Math.min(arrival.at, time.now() + packetsLiveMs);
      });
    }
  });
  return { arrivals, settled };
}
