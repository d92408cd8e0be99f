import { RateLimiter, type RateLimiterUsage } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { widenedMs } from "../../src/rate-limiter/sliding-window-log.ts";
import { storeOf } from "../../src/redis/redis-store.ts";
import { randomFrom } from "../rate-limiter/simulation.ts";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryScripts } from "../redis/memory-scripts.ts";

type Look = RateLimiterUsage & { readonly at: number };
type StoreOptions = Partial<ConstructorParameters<typeof MemoryScripts>[0]>;

const windows = [
  { limit: 8, intervalMs: 500 },
  { limit: 100, intervalMs: 5_000 },
];

/** Limiters on one Redis store, whose calls take 10 ms each, and the times at which the calls left. */
function start(options: StoreOptions = {}) {
  const time = new VirtualTime();
  const store = new MemoryScripts({ time, ...options });
  const left: number[] = [];
  const process = (more: object = {}) =>
    new RateLimiter({ clock: time.now, store: storeOf(store, store), windows, ...more });
  const call = (limiter: RateLimiter, calls: number, tookMs = 10): void => {
    for (let index = 0; index < calls; index += 1) {
      void Promise.resolve(limiter.acquire()).then((permit) => {
        left.push(time.now());
        time.after(tookMs, () => permit.release("responded"));
      });
    }
  };
  const looks: Look[] = [];
  const look = (limiter: RateLimiter, ...times: number[]): void => {
    for (const at of times) time.at(at, () => looks.push({ at, ...limiter.usage() }));
  };
  /** The usage of the shorter window: the time, the used permits, and the wait for the next one. */
  const shorter = () => looks.map(({ at, windows: [first] }) => [at, first!.used, first!.freeInMs]);
  return { time, store, left, process, call, look, shorter };
}

describe("usage with a Redis store", () => {
  it("of one process is the same as without Redis, except for the round trip to Redis", async () => {
    const times = [5, 50, 250, 450, 600, 900];
    const { time, process, call, look, shorter } = start();
    const limiter = process();
    await time.run(() => {
      call(limiter, 20);
      look(limiter, ...times);
    }, 1_000);

    const alone = start();
    const own = alone.process({ store: undefined });
    await alone.time.run(() => {
      alone.call(own, 20);
      alone.look(own, ...times);
    }, 1_000);

    expect(shorter().map(([at, used]) => [at, used])).toEqual(
      alone.shorter().map(([at, used]) => [at, used]),
    );
    for (const [index, [, , freeInMs]] of shorter().entries()) {
      // Some round trips of two milliseconds.
      expect(Math.abs(freeInMs! - alone.shorter()[index]![2]!)).toBeLessThanOrEqual(8);
    }
  });

  it("counts permits of others until they must have left the window, and has the wait that Redis replied", async () => {
    const { time, process, call, look, shorter } = start();
    const [one, other] = [process(), process()];
    await time.run(() => {
      call(one, 8);
      time.at(100, () => call(other, 1));
      look(other, 99, 110, 300, 500);
    }, 505);
    // The response comes at 12 ms; the release and its reply take 1 ms each.
    const availableAt = 12 + widenedMs(500) + 2;
    expect(shorter()).toEqual([
      [99, 0, 0],
      [110, 8, Math.ceil(availableAt - 110)],
      [300, 8, Math.ceil(availableAt - 300)],
      [500, 8, Math.ceil(availableAt - 500)],
    ]);
  });

  it("forgets permits of others that must have left the window, even without a request to Redis", async () => {
    const { time, process, call, look, shorter } = start();
    const [one, other] = [process(), process()];
    await time.run(() => {
      call(one, 5);
      time.at(100, () => call(other, 1));
      look(other, 110, 500, 619, 620);
    }, 630);
    // Seen last at 114, in the reply to the release of its own call.
    expect(shorter()).toEqual([
      [110, 6, 0],
      [500, 6, 0],
      [619, 5, 0],
      [620, 0, 0],
    ]);
  });

  it("of a window that others have filled has the wait until their last permit must have left it", async () => {
    const { time, process, call, look, shorter } = start();
    const [one, other] = [process(), process()];
    await time.run(() => {
      call(one, 7);
      // This call takes longer than the window; the permits of the others are seen at 102.
      time.at(100, () => call(other, 1, 1_500));
      look(other, 150, 600, 700);
    }, 800);
    expect(shorter()).toEqual([
      [150, 8, Math.ceil(102 + widenedMs(500) - 150)],
      [600, 8, Math.ceil(102 + widenedMs(500) - 600)],
      [700, 1, 0],
    ]);
  });

  it("respects the reduced limits after a 429", async () => {
    const { time, process, call, look, shorter } = start();
    const limiter = process();
    await time.run(() => {
      call(limiter, 4, 1);
      time.at(10, () => limiter.refused(20));
      look(limiter, 100);
    }, 200);
    // Half of 8 is 4: the window is full.
    expect(shorter()).toEqual([[100, 4, Math.ceil(3 + widenedMs(500) - 100)]]);
  });

  it("has the wait for the next permit of the process's share while Redis is unavailable", async () => {
    const { time, store, process, call, look, shorter } = start({ localShare: 1 / 4 });
    const limiter = process();
    await time.run(() => {
      store.network = "refuses";
      call(limiter, 5, 1);
      look(limiter, 0.5, 100, 600);
    }, 700);
    // Redis fails at 1 ms. Two of 8 leave then, with responses at 2. The next two leave at 507.25, as timers wait whole
    // milliseconds.
    expect(shorter()).toEqual([
      [0.5, 0, 0],
      [100, 2, Math.ceil(2 + widenedMs(500) - 100)],
      [600, 2, expect.closeTo(509 + widenedMs(500) - 600, -1)],
    ]);
  });

  it("has the wait for the process's share of the next window, if Redis is unavailable and no permit was left", async () => {
    const { time, store, left, process, call, look, shorter } = start();
    const limiter = process();
    await time.run(() => {
      // Another live process may have used the remaining permits.
      void Promise.resolve(process().acquire()).then((permit) => permit.release("unsent"));
      call(limiter, 12);
      time.at(100, () => (store.network = "refuses"));
      look(limiter, 2_500, 4_000);
    }, 7_500);
    // A quarter of 8, one window plus the grace period after Redis was found unavailable.
    const [ninth, tenth, eleventh] = left.slice(7); // without the call of the other process
    expect(shorter()).toEqual([
      [2_500, 0, expect.closeTo(ninth! - 2_500, -0.5)],
      [4_000, 0, expect.closeTo(ninth! - 4_000, -0.5)],
    ]);
    expect(tenth).toBe(ninth);
    expect(eleventh).toBeGreaterThan(ninth! + 500);
  });

  it("is the last known usage while calls fail without Redis", async () => {
    const { time, store, process, call, look, shorter } = start({ onUnavailable: "reject" });
    const limiter = process();
    await time.run(() => {
      call(limiter, 3);
      time.at(100, () => (store.network = "refuses"));
      time.at(200, () => void Promise.resolve(limiter.acquire()).catch(() => {}));
      look(limiter, 300, 700);
    }, 1_000);
    expect(shorter()).toEqual([
      [300, 3, 0],
      [700, 0, 0],
    ]);
  });
});

it("no window shows an available permit while calls wait for longer than the round trip to Redis", async () => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const random = randomFrom(seed);
    const wayMs = 1 + 4 * random();
    const { time, store, process, call } = start({
      delayMs: () => wayMs,
      localShare: 1 / 2,
    });
    const limiters = [process(), process()];
    const complaints: string[] = [];
    const availableLooks = new Map<RateLimiter, number>();
    const judge = (limiter: RateLimiter): void => {
      const { queued, pausedMs, windows: each } = limiter.usage();
      const isAvailable = queued > 0 && pausedMs === 0 && each.every(({ freeInMs }) => freeInMs === 0);
      // A request to Redis may be in flight during two checks, but not until the third.
      if (isAvailable && availableLooks.get(limiter) === 2)
        complaints.push(`${time.now()} ms: ${JSON.stringify(each)}`);
      availableLooks.set(limiter, isAvailable ? (availableLooks.get(limiter) ?? 0) + 1 : 0);
      if (each.some(({ used, limit }) => used > limit))
        complaints.push(`${time.now()} ms: more than there is`);
    };
    const ends = 20_000;
    await time.run(() => {
      for (const limiter of limiters) {
        for (let at = 0; at < ends; at += 37) time.at(at, () => judge(limiter));
        for (let burst = 0; burst < 6; burst += 1) {
          time.at(ends * random(), () => call(limiter, Math.ceil(30 * random()), 5 + 100 * random()));
        }
      }
      for (let failure = 0; failure < 2; failure += 1) {
        const at = ends * random();
        time.at(at, () => (store.network = "refuses"));
        time.at(at + 6_000 * random(), () => (store.network = "up"));
        time.at(ends * random(), () => store.loseMemory());
        time.at(ends * random(), () => limiters[failure]!.refused(300));
      }
    }, ends);
    expect({ seed, complaints }).toEqual({ seed, complaints: [] });
  }
});
