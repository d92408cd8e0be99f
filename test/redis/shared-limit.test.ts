import { describe, expect, it } from "vitest";
import { RateLimitWaitError } from "../../src/errors.ts";
import { DOCUMENTED_WINDOWS } from "../../src/limits.ts";
import { RateLimiter, type Permit } from "../../src/rate-limiter/rate-limiter.ts";
import { storeOf } from "../../src/redis/redis-store.ts";
import { heartbeatMs } from "../../src/redis/script-protocol.ts";
import { garbageCollector } from "../garbage-collector.ts";
import { refusedBySliding } from "../rate-limiter/server-count.ts";
import { randomFrom } from "../rate-limiter/simulation.ts";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryScripts } from "./memory-scripts.ts";

type StoreOptions = Partial<ConstructorParameters<typeof MemoryScripts>[0]>;

/** One Redis store, any number of processes, and a server that logs all arrivals. */
function room(options: StoreOptions = {}) {
  const time = new VirtualTime();
  const store = new MemoryScripts({ time, ...options });
  const random = randomFrom(7);
  const arrivals: number[] = [];
  const ended: { status: "responded" | "failed"; at: number; error?: unknown }[] = [];
  const process = (more: object = {}) =>
    new RateLimiter({ clock: time.now, store: storeOf(store, store), ...more });
  const send = (permit: Permit): void => {
    const [out, back] = [5 + 295 * random(), 5 + 295 * random()];
    arrivals.push(time.now() + out);
    time.after(out + back, () => {
      permit.release("responded");
      ended.push({ status: "responded", at: time.now() });
    });
  };
  const call = (limiter: RateLimiter, request: object = {}): void => {
    void Promise.resolve(limiter.acquire(request)).then(send, (error: unknown) => {
      ended.push({ status: "failed", at: time.now(), error });
    });
  };
  const callAt = (at: number, calls: number, limiter: RateLimiter): void => {
    time.at(at, () => {
      for (let index = 0; index < calls; index += 1) call(limiter);
    });
  };
  return { time, store, arrivals, ended, process, call, callAt };
}

describe("a Redis store that several processes share", () => {
  it("keeps the documented limits over all processes, whatever the delays of Redis and the service", async () => {
    const random = randomFrom(3);
    const { time, arrivals, ended, process, callAt } = room({ delayMs: () => 1 + 20 * random() });
    const processes = [process(), process(), process()];
    await time.run(() => processes.forEach((limiter, index) => callAt(index * 100, 120, limiter)), 400_000);
    expect(ended.filter(({ status }) => status === "responded")).toHaveLength(360);
    expect(refusedBySliding(arrivals, DOCUMENTED_WINDOWS)).toBe(0);
    // 360 calls: three minutes and five rounds of a second, each with its round trip.
    expect(ended.at(-1)!.at).toBeLessThan((180_000 + 5_000 + 610) * 1.05);
  });

  it("estimates with the permits of all processes, as of its last reply", async () => {
    const { time, process, callAt } = room();
    const windows = [{ limit: 10, intervalMs: 10_000 }];
    const [one, other] = [process({ windows }), process({ windows })];
    const estimates: number[] = [];
    const refused: unknown[] = [];
    await time.run(() => {
      callAt(0, 8, one);
      callAt(1_000, 1, other);
      time.at(2_000, () => {
        one.succeeded();
        estimates.push(other.estimateMs(1), other.estimateMs(2));
        for (let call = 0; call < 2; call += 1) {
          void Promise.resolve(other.acquire({ maxWaitMs: 2_000 })).catch((error: unknown) =>
            refused.push(error),
          );
        }
      });
    }, 2_100);
    const [first, second] = estimates as [number, number]; // pushed above
    // Nine of ten are acquired, each as if in the middle of its window.
    expect(first).toBeLessThan(1_000);
    expect(second).toBeGreaterThan(3_000);
    expect(refused).toMatchObject([{ window: windows[0] }]);
  });

  it("grants several permits with one request", async () => {
    const { time, store, process, callAt } = room();
    const limiter = process();
    await time.run(() => callAt(0, 10, limiter), 500);
    expect(store.log.filter((name) => name === "acquire")).toHaveLength(1);
  });

  it("gets permits back at once if their calls are aborted or unsent", async () => {
    const { time, store, process } = room();
    const limiter = process();
    const controller = new AbortController();
    const reasons: unknown[] = [];
    await time.run(() => {
      for (let call = 0; call < 5; call += 1) {
        void Promise.resolve(limiter.acquire({ signal: controller.signal })).catch((reason: unknown) =>
          reasons.push(reason),
        );
      }
      void Promise.resolve(limiter.acquire()).then((permit) => permit.release("unsent"));
      controller.abort("left");
    }, 100);
    expect(reasons).toEqual(Array(5).fill("left"));
    expect(store.inFlight).toBe(0);
  });

  it("releases the permits of a killed process when its lease ends, and not before", async () => {
    const { time, store, process } = room({ leaseMs: 10_000 });
    const windows = [{ limit: 2, intervalMs: 1_000 }];
    const left: number[] = [];
    // The process is killed before it can release its permits.
    const killed = {
      process: "killed",
      windows: [{ limit: 2, countedMs: 1_000, isAdaptive: false }],
      epoch: undefined,
      leaseMs: 10_000,
    };
    await time.run(() => {
      void store.acquire({ ...killed, ids: ["killed:1", "killed:2"] });
      time.at(
        2_000,
        () => void Promise.resolve(process({ windows }).acquire()).then(() => left.push(time.now())),
      );
    }, 14_000);
    expect(left).toHaveLength(1);
    expect(left[0]).toBeGreaterThan(11_000);
    expect(left[0]).toBeLessThan(12_200);
  });

  it("keeps the permit of a call that takes longer than the lease", async () => {
    const { time, store, process } = room({ leaseMs: 10_000 });
    const limiter = process();
    await time.run(() => void Promise.resolve(limiter.acquire()), 60_000);
    expect(store.inFlight).toBe(1);
    expect(limiter.usage().inFlight).toBe(1);
  });

  it("renews a lease that is shorter than the usual heartbeat interval", async () => {
    const { time, store, process } = room({ leaseMs: 900 });
    await time.run(() => void Promise.resolve(process().acquire()), 9_900);
    expect(store.inFlight).toBe(1);
  });

  it("is asked again as soon as a release shows returned permits, before the end of the wait", async () => {
    const { time, process } = room();
    const windows = [{ limit: 2, intervalMs: 60_000 }];
    const [one, other] = [process({ windows }), process({ windows })];
    const left: number[] = [];
    await time.run(() => {
      for (let call = 0; call < 2; call += 1) {
        void Promise.resolve(one.acquire()).then((permit) => time.at(5_000, () => permit.release("unsent")));
      }
      time.at(100, () => void Promise.resolve(other.acquire()).then(() => left.push(time.now())));
    }, 100_000);
    expect(left).toHaveLength(1);
    expect(left[0]).toBeLessThan(5_000 + heartbeatMs + 10);
  });

  it("pauses all processes after a 429 of one", async () => {
    const { time, process } = room();
    const [one, other] = [process(), process()];
    const left: number[] = [];
    await time.run(() => {
      void Promise.resolve(one.acquire()).then((permit) => {
        permit.release("responded");
        one.refused(7_000);
      });
      time.at(100, () => void Promise.resolve(other.acquire()).then(() => left.push(time.now())));
    }, 10_000);
    expect(left).toHaveLength(1);
    expect(left[0]).toBeGreaterThanOrEqual(7_000);
    expect(other.usage().pausedMs).toBe(0);
  });
});

it("permits that are granted after a 429 are returned, and not kept during the pause", async () => {
  const { time, store, process } = room();
  const limiter = process();
  await time.run(() => {
    for (let call = 0; call < 3; call += 1) void limiter.acquire();
    // Redis has granted them, and its reply is on the way.
    time.at(1.5, () => limiter.refused(60_000));
  }, 100);
  expect(store.inFlight).toBe(0);
  expect(limiter.usage()).toMatchObject({ queued: 3, inFlight: 0 });
});

describe("a Redis that has lost its data", () => {
  it("gets all valid permits before it grants new ones, so that no limit is exceeded", async () => {
    const { time, store, arrivals, ended, process, callAt } = room();
    const [busy, idle] = [process(), process()];
    await time.run(() => {
      callAt(0, 60, idle);
      callAt(10_000, 200, busy);
      time.at(20_000, () => store.loseMemory());
    }, 400_000);
    expect(ended.filter(({ status }) => status === "responded")).toHaveLength(260);
    expect(refusedBySliding(arrivals, DOCUMENTED_WINDOWS)).toBe(0);
  });
});

describe("a Redis that loses its data and fails before all processes have reported", () => {
  it("does not count as an unused budget in the local fallback", async () => {
    const { time, store, arrivals, ended, process, callAt } = room({ localShare: 1 / 2 });
    const windows = [
      { limit: 4, intervalMs: 1_000 },
      { limit: 40, intervalMs: 60_000 },
    ];
    const [one, other] = [process({ windows }), process({ windows })];
    await time.run(() => {
      callAt(0, 20, one);
      callAt(6_500, 20, other);
      time.at(15_000, () => store.loseMemory());
      // Between the heartbeats of the two processes: the first knows only its own permits.
      time.at(16_200, () => (store.network = "refuses"));
      callAt(17_000, 10, one);
    }, 300_000);
    expect(ended.filter(({ status }) => status === "responded")).toHaveLength(50);
    expect(refusedBySliding(arrivals, windows)).toBe(0);
  });
});

describe("a snapshot", () => {
  it.each([
    ["that still has them", false],
    ["that has lost its data", true],
  ])("adds its permits to a Redis %s, each of them once", async (_, isEmpty) => {
    const { time, store, process, callAt } = room();
    const limiter = process();
    let restarted: RateLimiter | undefined;
    await time.run(() => {
      callAt(0, 5, limiter);
      time.at(2_000, () => {
        if (isEmpty) store.loseMemory();
        restarted = process({ snapshot: JSON.parse(JSON.stringify(limiter.snapshot())) as unknown });
        callAt(2_100, 1, restarted);
      });
    }, 10_000);
    expect(restarted?.usage().windows.map(({ used }) => used)).toEqual([0, 6, 6]);
  });

  it("of a limiter without a Redis store adds each of its permits, too", async () => {
    const { time, process, callAt } = room();
    const limiter = new RateLimiter({ clock: time.now });
    let restarted: RateLimiter | undefined;
    await time.run(() => {
      callAt(0, 5, limiter);
      time.at(2_000, () => {
        restarted = process({ snapshot: limiter.snapshot() });
        callAt(2_100, 1, restarted);
      });
    }, 10_000);
    expect(restarted?.usage().windows.map(({ used }) => used)).toEqual([0, 6, 6]);
  });

  it("counts even if Redis is unavailable from the start", async () => {
    const windows = [{ limit: 8, intervalMs: 20_000 }];
    const { time, store, arrivals, process, callAt } = room({ localShare: 1 });
    const limiter = process({ windows });
    await time.run(() => {
      callAt(0, 8, limiter);
      time.at(1_000, () => {
        store.network = "refuses";
        callAt(1_000, 8, process({ windows, snapshot: limiter.snapshot() }));
      });
    }, 60_000);
    expect(arrivals).toHaveLength(16);
    expect(refusedBySliding(arrivals, windows)).toBe(0);
  });
});

describe.each(["refuses", "hangs", "loses replies"] as const)("a Redis that %s", (network) => {
  it('lets each of four processes use its share with "local", and gets their permits afterwards', async () => {
    const { time, store, arrivals, ended, process, callAt } = room();
    const processes = [process(), process(), process(), process()];
    await time.run(() => {
      // More than a minute's limit for each, so that every process still has calls when Redis is unavailable.
      for (const limiter of processes) callAt(0, 130, limiter);
      time.at(30_000, () => (store.network = network));
      time.at(200_000, () => (store.network = "up"));
    }, 900_000);
    expect(ended.filter(({ status }) => status === "responded")).toHaveLength(520);
    expect(refusedBySliding(arrivals, DOCUMENTED_WINDOWS)).toBe(0);
    // Four quarters of the minute's limit, a few less if a minute ends between two calls.
    const alone = arrivals.filter((at) => at > 90_000 && at < 150_000);
    expect(alone.length).toBeGreaterThan(80);
    expect(alone.length).toBeLessThanOrEqual(100);
  });

  it("grants nothing after an outage until every process has reported its permits", async () => {
    const { time, store, arrivals, process, callAt } = room({ localShare: 1 / 2 });
    const windows = [{ limit: 8, intervalMs: 20_000 }];
    const [one, other] = [process({ windows }), process({ windows })];
    await time.run(() => {
      store.network = network;
      callAt(0, 20, one);
      callAt(600, 4, other);
      time.at(9_000, () => (store.network = "up"));
    }, 60_000);
    expect(arrivals).toHaveLength(24);
    expect(arrivals.filter((at) => at < 9_000)).toHaveLength(8);
    expect(refusedBySliding(arrivals, windows)).toBe(0);
  });

  it('makes waiting calls fail with "reject", and grants permits again afterwards', async () => {
    const { time, store, arrivals, ended, process, call } = room({ onUnavailable: "reject" });
    const limiter = process();
    await time.run(() => {
      store.network = network;
      time.at(0, () => call(limiter));
      time.at(3_000, () => call(limiter));
      time.at(4_000, () => (store.network = "up"));
      time.at(8_000, () => call(limiter));
      time.at(20_000, () => call(limiter));
    }, 30_000);
    expect(ended.map(({ status }) => status)).toEqual(["failed", "failed", "responded", "responded"]);
    expect(ended[0]!.error).toBeInstanceOf(RateLimitWaitError);
    expect(arrivals).toHaveLength(2);
  });
});

describe("a reply of Redis", () => {
  const sense = { granted: 1, waitMs: 0, epoch: "1", pausedMs: 0, rateFactor: 1, others: 0, used: [1, 1, 1] };

  /** How a call ends if Redis sends this reply. */
  async function ends(reply: unknown) {
    const { time, process, ended, call } = room();
    const replying = async () => reply as never; // invalid on purpose
    const store = {
      onUnavailable: "reject",
      localShare: 1,
      leaseMs: 10_000,
      acquire: replying,
      release: replying,
    } as const;
    const limiter = process({ store: storeOf(store, store) });
    await time.run(() => call(limiter), 1_500);
    return ended;
  }

  it("that is one of its scripts grants a permit", async () => {
    expect(await ends(sense)).toMatchObject([{ status: "responded" }]);
    expect(await ends({ ...sense, rateFactor: 1 / 64 })).toMatchObject([{ status: "responded" }]);
  });

  it.each([
    { ...sense, epoch: undefined },
    { ...sense, used: null },
    { ...sense, used: ["1"] },
    { ...sense, used: [] },
    { ...sense, waitMs: undefined },
    { ...sense, granted: "1" },
    { ...sense, pausedMs: Number.NaN },
    "OK",
    null,
  ])("that is not one of its scripts makes it count as unavailable (%o)", async (reply) => {
    const message = "No permit. The rate limit store is unavailable: an invalid reply.";
    expect(await ends(reply)).toMatchObject([{ status: "failed", error: { message } }]);
  });
});

describe("a late reply of Redis", () => {
  it("after Redis was found unavailable returns its permits", async () => {
    let delayMs = 1;
    const { time, store, process } = room({ delayMs: () => delayMs });
    const limiter = process();
    const granted: number[] = [];
    await time.run(() => {
      delayMs = 700;
      void Promise.resolve(limiter.acquire()).then((permit) => permit.release("unsent"));
      time.at(750, () => granted.push(store.inFlight));
      time.at(1_100, () => (delayMs = 1));
    }, 6_000);
    expect(granted).toEqual([1]);
    expect(store.inFlight).toBe(0);
  });

  it("to a request from before the outage returns its permits, even when Redis is available again", async () => {
    let delayMs = 3_000;
    const { time, store, process, call } = room({ delayMs: () => delayMs, onUnavailable: "reject" });
    const limiter = process();
    const held: number[] = [];
    await time.run(() => {
      // The call fails after a second. Two seconds later no call needs the granted permit.
      call(limiter);
      time.at(10, () => (delayMs = 1));
      time.at(2_999, () => held.push(store.inFlight));
      time.at(3_001, () => held.push(store.inFlight));
    }, 3_500);
    expect(held).toEqual([0, 1]);
    const look = { process: "test", epoch: undefined, leaseMs: 1_000, permits: [], succeeded: 0 };
    const windows = [{ limit: 10, countedMs: 60_000, isAdaptive: false }];
    expect(store.releaseNow({ ...look, windows, isReturning: false })).toMatchObject({ used: [0] });
  });

  it("during the local fallback returns its permits", async () => {
    const { time, store, process } = room({ delayMs: () => 400, localShare: 1 / 2 });
    const windows = [
      { limit: 2, intervalMs: 1_000 },
      { limit: 100, intervalMs: 60_000 },
    ];
    const limiter = process({ windows });
    const held: number[] = [];
    await time.run(() => {
      void Promise.resolve(limiter.acquire()).then((permit) => {
        // The release fails at 1,300 ms, and the acquire of 1,000 ms gets its reply at 1,800 ms.
        time.at(900, () => permit.release("responded"));
        time.at(
          1_000,
          () => void Promise.resolve(limiter.acquire()).then((other) => other.release("unsent")),
        );
      });
      time.at(1_250, () => (store.network = "refuses"));
      time.at(1_350, () => (store.network = "up"));
      time.at(1_700, () => held.push(store.inFlight));
    }, 9_000);
    // The permit of the first call, whose release Redis does not know yet, and that of the other call.
    expect(held).toEqual([2]);
    expect(store.inFlight).toBe(0);
  });
});

it("the rate grows back with the successes of all processes", async () => {
  const { time, process } = room();
  const [one, other] = [process(), process()];
  const rateFactors: number[] = [];
  await time.run(() => {
    void Promise.resolve(one.acquire()).then((permit) => {
      permit.release("responded");
      one.refused(1_000);
    });
    const acquire = () => void Promise.resolve(other.acquire()).then((permit) => permit.release("responded"));
    time.at(1_500, acquire);
    time.at(2_000, () => {
      for (let success = 0; success < 60; success += 1) one.succeeded();
    });
    time.at(3_000, () => {
      for (let success = 0; success < 20; success += 1) other.succeeded();
      acquire();
    });
    time.at(9_000, () => rateFactors.push(one.snapshot().share, other.snapshot().share));
  }, 10_000);
  const after80 = expect.closeTo(0.9, 9) as number; // a matcher in place of a number
  expect(rateFactors).toEqual([after80, after80]);
});

describe("while Redis is unavailable, a limiter", () => {
  /** The error and the last log message of a call whose Redis client throws `reason`. */
  async function endOfCall(reason: unknown, options: StoreOptions) {
    const { time, store, ended, process, call } = room(options);
    const fails = () => Promise.reject(reason);
    const { onUnavailable, localShare, leaseMs } = store;
    const failing = { onUnavailable, localShare, leaseMs, acquire: fails, release: fails };
    const limiter = process({ store: storeOf(failing, failing) });
    const absences: unknown[] = [];
    const observer = { storeWarning: (absence: unknown) => void absences.push(absence) };
    await time.run(() => call(limiter, { observer }), 5_000);
    return { error: ended[0]?.error, absence: absences.at(-1) };
  }

  it('reports it with the reason and fails no call, with "local"', async () => {
    const { error, absence } = await endOfCall(new Error("no route"), {});
    expect(error).toBeUndefined();
    expect(absence).toBe(
      "the rate limit store is unavailable: no route; this process continues with its share",
    );
  });

  it("reports it if Redis does not reply", async () => {
    const { time, store, process, call } = room();
    const absences: unknown[] = [];
    const observer = { storeWarning: (absence: unknown) => void absences.push(absence) };
    await time.run(() => {
      store.network = "hangs";
      call(process(), { observer });
    }, 5_000);
    expect(absences).toEqual([
      undefined,
      expect.stringContaining("is unavailable: no reply within 1000 ms;"),
    ]);
  });

  it('reports it with the reason only in the error, with "reject"', async () => {
    const { error, absence } = await endOfCall("no route", { onUnavailable: "reject" });
    expect(error).toMatchObject({
      message: "No permit. The rate limit store is unavailable: no reason given.",
      // Redis is tried each second.
      waitMs: 1_000,
    });
    expect(error).not.toHaveProperty("window");
    expect(absence).toBeUndefined();
  });

  it('reports no wait for a call that fails, with "reject"', async () => {
    const { time, store, process } = room({ onUnavailable: "reject" });
    const limiter = process();
    const waits: number[] = [];
    const errors: unknown[] = [];
    await time.run(() => {
      store.network = "refuses";
      for (const at of [0, 500]) {
        time.at(at, () => {
          const onWait = (waitMs: number) => waits.push(waitMs);
          void Promise.resolve(limiter.acquire({ onWait })).catch((error: unknown) => errors.push(error));
        });
      }
    }, 2_000);
    expect(waits).toEqual([]);
    expect(errors).toHaveLength(2);
  });

  it("rejects calls if its share of a limit is below one permit", async () => {
    const { error } = await endOfCall(new Error("no route"), { localShare: 1 / 20 });
    expect(error).toMatchObject({
      message:
        "No permit. The rate limit store is unavailable: no route. `localShare` of a limit is less than one permit.",
      waitMs: 1_000,
    });
    expect(error).not.toHaveProperty("window");
  });
});

it("a limiter that is garbage-collected sends no more requests", async () => {
  const collect = garbageCollector();
  const { time, store, process } = room();
  // Longer than any timer of the call itself, and between two heartbeats.
  await time.run(() => {
    void Promise.resolve(process().acquire()).then((permit) => permit.release("responded"));
  }, 71_000);
  const whileReferenced = store.log.length;
  // A WeakRef keeps its target until the end of the current turn, and running code may keep it longer.
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise(setImmediate);
    collect();
  }
  await time.run(() => {}, 140_000);
  expect(whileReferenced).toBeGreaterThan(30);
  expect(store.log.length - whileReferenced).toBe(0);
  expect(time.pendingTimers).toBe(0);
});
