import { RateLimiter } from "audience-sdk";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { refusedByFixed, refusedBySliding } from "../rate-limiter/simulation.ts";
import { type Permit, VirtualTime } from "../rate-limiter/virtual-time.ts";
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
  // "lost": its response never arrives; the request arrives up to 3 s after the release.
  end: fc.constantFrom("responded", "responded", "responded", "refused", "lost", "unsent"),
  givesUpAfterMs: fc.option(fc.integer({ min: 0, max: 5_000 }), { freq: 10 }),
  maxWaitMs: fc.option(fc.integer({ min: 0, max: 20_000 }), { freq: 10 }),
});
type Call = typeof callArbitrary extends fc.Arbitrary<infer T> ? T : never;

const loadArbitrary = fc.record({
  windows: fc.array(windowArbitrary, { minLength: 1, maxLength: 3 }),
  calls: fc.array(callArbitrary, { minLength: 1, maxLength: 150, size: "max" }),
  /** The time of a restart of the process, with the snapshot of the previous one. */
  restartAt: fc.option(fc.integer({ min: 1, max: 30_000 }), { freq: 3 }),
  phases: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 3, maxLength: 3 }),
  /** How much faster the server's clock runs than ours. */
  slew: fc.double({ min: -0.0004, max: 0.0004, noNaN: true }),
});
type Load = typeof loadArbitrary extends fc.Arbitrary<infer T> ? T : never;

it("for any load, the server never counts more than the limit in any window", async () => {
  let arrived = 0;
  await fc.assert(
    fc.asyncProperty(loadArbitrary, async (load) => {
      const { arrivals, settled } = await play(load);
      arrived += arrivals.length;
      const seen = arrivals.map(({ at }) => at * (1 + load.slew));
      expect(refusedBySliding(seen, load.windows)).toBe(0);
      expect(refusedByFixed(seen, load.windows, load.phases)).toBe(0);
      expect(settled).toBe(load.calls.length);
    }),
    runs(300, 30),
  );
  expect(arrived).toBeGreaterThan(300);
});

/** The time at which a call starts. */
interface Arrival {
  at: number;
}

/** The lifetime of packets in a slow network: no request of an ended process arrives later. */
const packetsLiveMs = 5_000;

/** Simulates a load to its end: the arrival times at the server, and the number of ended calls. */
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
        // A process that has ended sends no further request.
        if (asked === limiter) send(asked, granted, call);
        else granted.release("unsent");
      },
      () => (settled += 1),
    );
  };
  const send = (asked: RateLimiter, permit: Permit, { outMs, backMs, end }: Call): void => {
    if (end === "unsent") return permit.release("unsent");
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
