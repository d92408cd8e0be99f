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

/** Limiters on one store, each of whose calls takes 10 ms, and when each left. */
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
  /** How the shorter window stood: when, how many were used, and when one comes free. */
  const shorter = () => looks.map(({ at, windows: [first] }) => [at, first!.used, first!.freeInMs]);
  return { time, store, left, process, call, look, shorter };
}

describe("usage with a store", () => {
  it("is for one process what it is without one, to the way to the store", async () => {
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
      // There and back, and once more where it asked a moment early.
      expect(Math.abs(freeInMs! - alone.shorter()[index]![2]!)).toBeLessThanOrEqual(6);
    }
  });

  it("keeps what the store saw of others until it must have left, and says when the store says", async () => {
    const { time, process, call, look, shorter } = start();
    const [one, other] = [process(), process()];
    await time.run(() => {
      call(one, 8);
      time.at(100, () => call(other, 1));
      look(other, 99, 110, 300, 500);
    }, 505);
    // Answered at 12 ms; the report of it and the store's answer take 1 ms each.
    const availableAt = 12 + widenedMs(500) + 2;
    expect(shorter()).toEqual([
      [99, 0, 0],
      [110, 8, Math.ceil(availableAt - 110)],
      [300, 8, Math.ceil(availableAt - 300)],
      [500, 8, Math.ceil(availableAt - 500)],
    ]);
  });

  it("forgets of others what must have left, though nobody asks meanwhile", async () => {
    const { time, process, call, look, shorter } = start();
    const [one, other] = [process(), process()];
    await time.run(() => {
      call(one, 5);
      time.at(100, () => call(other, 1));
      look(other, 110, 500, 619, 620);
    }, 630);
    // Seen last at 114, with the report of its own call.
    expect(shorter()).toEqual([
      [110, 6, 0],
      [500, 6, 0],
      [619, 5, 0],
      [620, 0, 0],
    ]);
  });

  it("says of a window that others have filled, and nobody asks for, when the last of them must have left", async () => {
    const { time, process, call, look, shorter } = start();
    const [one, other] = [process(), process()];
    await time.run(() => {
      call(one, 7);
      // Longer on its way than the others' stay; seen at 102.
      time.at(100, () => call(other, 1, 1_500));
      look(other, 150, 600, 700);
    }, 800);
    expect(shorter()).toEqual([
      [150, 8, Math.ceil(102 + widenedMs(500) - 150)],
      [600, 8, Math.ceil(102 + widenedMs(500) - 600)],
      [700, 1, 0],
    ]);
  });

  it("is of the part of the limits that is in force after a 429", async () => {
    const { time, process, call, look, shorter } = start();
    const limiter = process();
    await time.run(() => {
      call(limiter, 4, 1);
      time.at(10, () => limiter.refused(20));
      look(limiter, 100);
    }, 200);
    // Half of 8: full.
    expect(shorter()).toEqual([[100, 4, Math.ceil(3 + widenedMs(500) - 100)]]);
  });

  it("is of this process's share while the store is away: what it leaves to others counts as taken", async () => {
    const { time, store, process, call, look, shorter } = start({ localShare: 1 / 4 });
    const limiter = process();
    await time.run(() => {
      store.network = "refuses";
      call(limiter, 5, 1);
      look(limiter, 0.5, 100, 600);
    }, 700);
    // Refused at 1 ms, two of 8 leave then, and are answered at 2; the next two leave at 507.25, as timers wait whole
    // milliseconds.
    expect(shorter()).toEqual([
      [0.5, 0, 0],
      [100, 8, Math.ceil(2 + widenedMs(500) - 100)],
      [600, 8, expect.closeTo(509 + widenedMs(500) - 600, -1)],
    ]);
  });

  it("says while the store is away, where nothing was left, when this process's share of the next window comes", async () => {
    const { time, store, left, process, call, look, shorter } = start();
    const limiter = process();
    await time.run(() => {
      // Another lives, and may have sent what was left.
      void Promise.resolve(process().acquire()).then((permit) => permit.release("unsent"));
      call(limiter, 12);
      time.at(100, () => (store.network = "refuses"));
      look(limiter, 2_500, 4_000);
    }, 7_500);
    // A quarter of 8, one window and what may still arrive later than the store was found away.
    const [ninth, tenth, eleventh] = left.slice(7); // the other's is not among them
    expect(shorter()).toEqual([
      [2_500, 8, expect.closeTo(ninth! - 2_500, -0.5)],
      [4_000, 8, expect.closeTo(ninth! - 4_000, -0.5)],
    ]);
    expect(tenth).toBe(ninth);
    expect(eleventh).toBeGreaterThan(ninth! + 500);
  });

  it("is what was seen last where calls are refused without the store", async () => {
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

it("no window says that a place is free while calls wait for longer than the way to the store", async () => {
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
      // In two looks the store may be being asked: the third is later than that.
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
      for (let trouble = 0; trouble < 2; trouble += 1) {
        const at = ends * random();
        time.at(at, () => (store.network = "refuses"));
        time.at(at + 6_000 * random(), () => (store.network = "up"));
        time.at(ends * random(), () => store.loseMemory());
        time.at(ends * random(), () => limiters[trouble]!.refused(300));
      }
    }, ends);
    expect({ seed, complaints }).toEqual({ seed, complaints: [] });
  }
});
