import { describe, expect, it } from "vitest";
import { RateLimiter, type Permit } from "../../src/rate-limiter/rate-limiter.ts";
import { storeOf } from "../../src/redis/redis-store.ts";
import type { AcquireRequest, PermitScripts, ReleaseRequest } from "../../src/redis/script-protocol.ts";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryScripts } from "./memory-scripts.ts";

const windows = [
  { limit: 10, intervalMs: 1_000 },
  { limit: 1_000, intervalMs: 60_000 },
];

/** Limiters on a Redis store, with a log of its requests. */
function setUp(options: Partial<ConstructorParameters<typeof MemoryScripts>[0]> = {}) {
  const time = new VirtualTime();
  const store = new MemoryScripts({ time, ...options });
  const acquires: (AcquireRequest & { at: number })[] = [];
  const releases: (ReleaseRequest & { at: number })[] = [];
  const { onUnavailable, localShare, leaseMs } = store;
  const scripts: PermitScripts = {
    acquire: (request) => {
      acquires.push({ at: time.now(), ...request });
      return store.acquire(request);
    },
    release: (request) => {
      releases.push({ at: time.now(), ...request });
      return store.release(request);
    },
  };
  const shared = storeOf(scripts, { onUnavailable, localShare, leaseMs });
  const process = (more: object = {}) =>
    new RateLimiter({ clock: time.now, store: shared, windows, ...more });
  const acquire = (limiter: RateLimiter, then: (permit: Permit) => void = () => {}) =>
    void Promise.resolve(limiter.acquire()).then(then);
  return { time, store, acquires, releases, process, acquire };
}

describe("An acquire request", () => {
  it("holds the windows, widened for slewed clocks; all but the longest are adaptive", async () => {
    const { time, acquires, process, acquire } = setUp();
    const limiter = process();
    await time.run(() => acquire(limiter), 100);
    expect(acquires).toMatchObject([
      {
        windows: [
          { limit: 10, countedMs: 1_005.5, isAdaptive: true },
          { limit: 1_000, countedMs: 60_035, isAdaptive: false },
        ],
        epoch: undefined,
        leaseMs: 60_000,
      },
    ]);
  });

  it("holds the epoch of the last reply", async () => {
    const { time, acquires, process, acquire } = setUp();
    const limiter = process();
    await time.run(() => {
      acquire(limiter);
      time.at(50, () => acquire(limiter));
    }, 100);
    expect(acquires.map(({ epoch }) => epoch)).toEqual([undefined, "epoch 1"]);
  });

  it("asks for a permit for each waiting call, at most a hundred, each with its own id", async () => {
    const { time, acquires, process, acquire } = setUp();
    const limiters = [process(), process()];
    await time.run(() => {
      for (let call = 0; call < 3; call += 1) acquire(limiters[0]!);
      for (let call = 0; call < 130; call += 1) acquire(limiters[1]!);
    }, 0);
    const ids = acquires.flatMap((request) => request.ids);
    expect(acquires.map((request) => request.ids.length)).toEqual([3, 100]);
    expect(new Set(ids).size).toBe(103);
  });

  it("is repeated after the wait of the reply, and not before", async () => {
    const { time, acquires, process, acquire } = setUp({ delayMs: () => 0 });
    const limiter = process();
    await time.run(() => {
      for (let call = 0; call < 11; call += 1) acquire(limiter, (permit) => permit.release("responded"));
    }, 1_100);
    const [first, second, ...more] = acquires;
    expect(first?.at).toBe(0);
    expect(second?.at).toBe(1_006);
    expect(second?.ids).toHaveLength(1);
    expect(more).toEqual([]);
  });

  it("is repeated before the end of a long wait, if a release shows that a permit was returned", async () => {
    const { time, acquires, process, acquire } = setUp({ delayMs: () => 0 });
    const permits: Permit[] = [];
    const few = {
      windows: [
        { limit: 3, intervalMs: 50_000 },
        { limit: 100, intervalMs: 60_000 },
      ],
    };
    const limiter = process(few);
    await time.run(() => {
      for (let call = 0; call < 4; call += 1) acquire(limiter, (permit) => permits.push(permit));
      time.at(1_000, () => permits[0]!.release("responded"));
      time.at(1_500, () => permits[1]!.release("unsent"));
    }, 3_000);
    expect(acquires.map(({ at }) => at)).toEqual([0, 1_500]);
  });

  it("is not repeated before the end of a short wait: the permit may belong to another process", async () => {
    const { time, acquires, process, acquire } = setUp({ delayMs: () => 0 });
    const permits: Permit[] = [];
    const limiter = process();
    await time.run(() => {
      for (let call = 0; call < 11; call += 1) acquire(limiter, (permit) => permits.push(permit));
      time.at(700, () => permits[0]!.release("unsent"));
    }, 1_100);
    expect(acquires.map(({ at }) => at)).toEqual([0, 1_006]);
  });

  it("is not repeated while all permits of the reduced rate are acquired", async () => {
    const { time, acquires, process, acquire } = setUp({ delayMs: () => 0 });
    const few = {
      windows: [
        { limit: 4, intervalMs: 10_000 },
        { limit: 100, intervalMs: 60_000 },
      ],
    };
    const limiter = process(few);
    const permits: Permit[] = [];
    await time.run(() => {
      limiter.refused(1);
      for (let call = 0; call < 3; call += 1) acquire(limiter, (permit) => permits.push(permit));
      time.at(2_000, () => permits[0]!.release("responded"));
    }, 5_000);
    expect(permits).toHaveLength(2);
    expect(acquires.filter(({ at }) => at >= 2_000)).toEqual([]);
  });

  it("is not sent during a pause", async () => {
    const { time, acquires, process, acquire } = setUp();
    const limiter = process();
    await time.run(() => {
      acquire(limiter, (permit) => {
        permit.release("responded");
        limiter.refused(3_000);
        acquire(limiter);
      });
    }, 5_000);
    // 3 s on the clock of Redis, from its reply to the release on.
    expect(acquires.map(({ at }) => at)).toEqual([0, 3_004]);
  });
});

describe("A release request", () => {
  it("is sent at once for each permit, even while another is in flight", async () => {
    const { time, releases, process, acquire } = setUp({ delayMs: () => 20 });
    const limiter = process();
    const acquired: Permit[] = [];
    const release = () => acquired.splice(0, 1).forEach((permit) => permit.release("responded"));
    await time.run(() => {
      for (let call = 0; call < 2; call += 1) acquire(limiter, (permit) => acquired.push(permit));
      time.at(100, release);
      time.at(110, release);
    }, 1_000);
    expect(releases.map(({ at, permits }) => [at, permits.map(([, state]) => state)])).toEqual([
      [100, [0]],
      [110, [0]],
    ]);
  });

  it("holds the end of each permit: responded, unsent, or lost with the time in which it may still arrive", async () => {
    const { time, acquires, releases, process, acquire } = setUp();
    const limiter = process();
    const permits: Permit[] = [];
    await time.run(() => {
      for (let call = 0; call < 3; call += 1) acquire(limiter, (permit) => permits.push(permit));
      time.at(100, () => {
        permits[0]!.release("responded");
        permits[1]!.release("unsent");
        permits[2]!.release("lost");
      });
    }, 1_000);
    const ids = acquires[0]!.ids;
    expect(releases.flatMap((report) => report.permits)).toEqual([
      [ids[0], 0],
      [ids[1], "unsent"],
      [ids[2], -5_000],
    ]);
  });

  it("holds the end of a permit, even while its heartbeat is in flight", async () => {
    const { time, releases, process, acquire } = setUp({ delayMs: () => 20 });
    await time.run(
      () => acquire(process(), (permit) => time.at(2_010, () => permit.release("responded"))),
      3_000,
    );
    expect(releases.map(({ at, permits }) => [at, permits.map(([, state]) => state)])).toEqual([
      [2_000, ["in flight"]],
      [2_010, [0]],
    ]);
  });

  it("holds the states of all permits of the process after Redis has lost its data", async () => {
    const { time, store, acquires, releases, process, acquire } = setUp();
    const limiter = process();
    await time.run(() => {
      acquire(limiter, (permit) => time.at(500, () => permit.release("responded")));
      acquire(limiter);
      time.at(1_000, () => store.loseMemory());
    }, 2_500);
    const ids = acquires[0]!.ids;
    expect(releases.at(-1)).toMatchObject({
      at: 2_002,
      epoch: "epoch 2",
      permits: [
        [ids[0], 1_502],
        [ids[1], "in flight"],
      ],
    });
  });

  it("holds a 429 once, with the rest of its pause", async () => {
    const { time, releases, process, acquire } = setUp();
    const limiter = process();
    await time.run(() => {
      acquire(limiter, (permit) => {
        limiter.refused(3_000);
        time.at(50, () => permit.release("responded"));
      });
    }, 1_000);
    expect(releases.map(({ refusedForMs }) => refusedForMs)).toEqual([3_000, undefined]);
  });

  it("holds successes only after a 429, and each once", async () => {
    const { time, releases, process, acquire } = setUp();
    const limiter = process();
    const succeed = (permit: Permit) => {
      limiter.succeeded();
      permit.release("responded");
    };
    await time.run(() => {
      acquire(limiter, succeed);
      time.at(100, () => limiter.refused(50));
      time.at(200, () => acquire(limiter, succeed));
      time.at(300, () => acquire(limiter, succeed));
    }, 1_000);
    expect(releases.map(({ succeeded }) => succeeded)).toEqual([0, 0, 1, 1]);
  });

  it("is a heartbeat: with the permits in flight, or without permits if the process sent nothing else", async () => {
    const { time, acquires, releases, process, acquire } = setUp();
    const limiter = process();
    await time.run(
      () => acquire(limiter, (permit) => time.at(4_500, () => permit.release("responded"))),
      9_000,
    );
    const id = acquires[0]!.ids[0]!;
    expect(releases.map(({ at, permits }) => [at, permits.map(([, state]) => state)])).toEqual([
      [2_000, ["in flight"]],
      [4_000, ["in flight"]],
      [4_500, [0]],
      [6_000, []],
      [8_000, []],
    ]);
    expect(releases.flatMap(({ permits }) => permits.map(([name]) => name))).toEqual([id, id, id]);
  });

  it("is not sent as a heartbeat shortly after another request of a process with nothing in flight", async () => {
    const { time, releases, process, acquire } = setUp();
    await time.run(
      () => acquire(process(), (permit) => time.at(1_500, () => permit.release("responded"))),
      5_000,
    );
    expect(releases.map(({ at }) => at)).toEqual([1_500, 4_000]);
  });

  it("is sent three times in a lease that is shorter than three heartbeats", async () => {
    const { time, releases, process, acquire } = setUp({ leaseMs: 900 });
    const limiter = process();
    await time.run(() => acquire(limiter), 1_000);
    expect(releases.map(({ at }) => at)).toEqual([300, 600, 900]);
  });

  it("holds the permits of a snapshot, and is sent before the first acquire request", async () => {
    const { time, acquires, releases, process, acquire } = setUp();
    const limiter = process();
    const log: string[] = [];
    await time.run(() => {
      acquire(limiter, (permit) => permit.release("responded"));
      time.at(100, () => {
        acquires.length = releases.length = 0;
        const restarted = process({ snapshot: limiter.snapshot() });
        acquire(restarted, () => log.push(`sent at ${time.now()}`));
      });
    }, 1_000);
    expect(releases).toMatchObject([{ at: 100, permits: [[expect.any(String), 98]] }]);
    expect(acquires.map(({ at }) => at)).toEqual([102]);
    expect(log).toEqual(["sent at 104"]);
  });
});

describe("Redis after an outage", () => {
  it("gets a request without changes first, and then all permits in order", async () => {
    const { time, store, releases, process, acquire } = setUp({ localShare: 1 / 2 });
    const limiter = process();
    await time.run(() => {
      acquire(limiter, (permit) => permit.release("responded"));
      time.at(1_500, () => (store.network = "refuses"));
      // A heartbeat finds Redis unavailable; the process uses half of the remaining permits.
      time.at(10_000, () => acquire(limiter, (permit) => permit.release("responded")));
      time.at(12_000, () => (store.network = "up"));
    }, 13_500);
    const back = releases.filter(({ at }) => at > 12_000);
    expect(back).toMatchObject([
      { epoch: undefined, permits: [], succeeded: 0, isReturning: false },
      {
        epoch: "epoch 1",
        permits: [
          [expect.any(String), expect.any(Number)],
          [expect.any(String), expect.any(Number)],
        ],
        succeeded: 0,
        isReturning: true,
      },
    ]);
  });

  it("is available again with the next release, if it replied to the last one too late", async () => {
    let delayMs = 1;
    const { time, process, acquire } = setUp({ delayMs: () => delayMs });
    const limiter = process();
    const absences: (string | undefined)[] = [];
    await time.run(() => {
      acquire(limiter, (permit) => {
        delayMs = 700;
        permit.release("responded");
      });
      const observer = { storeWarning: (absence: string | undefined) => void absences.push(absence) };
      for (const at of [1_300, 6_000]) time.at(at, () => void limiter.acquire({ observer }));
      time.at(1_300, () => (delayMs = 1));
    }, 6_500);
    expect([...new Set(absences)]).toEqual([expect.stringContaining("no reply within 1000 ms"), undefined]);
  });

  it("is tried once a second", async () => {
    const { time, store, releases, process, acquire } = setUp();
    const limiter = process();
    await time.run(() => {
      acquire(limiter, (permit) => permit.release("responded"));
      time.at(1_000, () => (store.network = "refuses"));
    }, 6_500);
    expect(releases.filter(({ at }) => at > 1_000).map(({ at }) => at)).toEqual([
      2_000, 3_001, 4_002, 5_003, 6_004,
    ]);
  });

  it("is tried again, if it replies to the first request and then fails at the report of the permits", async () => {
    const { time, store, releases, process, acquire } = setUp();
    const limiter = process();
    await time.run(() => {
      acquire(limiter, (permit) => permit.release("responded"));
      time.at(1_500, () => (store.network = "refuses"));
      time.at(2_500, () => (store.network = "up"));
      time.at(3_003.5, () => (store.network = "refuses"));
      time.at(3_500, () => (store.network = "up"));
    }, 5_000);
    const tries = releases.filter(({ at }) => at > 2_500);
    expect(tries.map(({ at, permits }) => [at, permits.length])).toEqual([
      [3_001, 0],
      [3_003, 1],
      [4_004, 0],
      [4_006, 1],
    ]);
    expect(limiter.usage().windows[0]!.freeInMs).toBe(0);
  });

  it("needs no recovery after a short outage in which nothing was sent", async () => {
    const { time, store, releases, process, acquire } = setUp();
    const limiter = process();
    const sent: number[] = [];
    await time.run(() => {
      acquire(limiter, (permit) => permit.release("responded"));
      time.at(1_500, () => (store.network = "refuses"));
      time.at(2_500, () => (store.network = "up"));
      time.at(3_500, () => acquire(limiter, () => sent.push(time.now())));
    }, 4_000);
    expect(releases.at(-1)).toMatchObject({ isReturning: false });
    expect(sent).toEqual([3_502]);
  });

  it("needs a recovery if a process sent anything during the outage, however short", async () => {
    const { time, store, releases, process, acquire } = setUp({ localShare: 1 });
    const limiter = process();
    const sent: number[] = [];
    const call = () => acquire(limiter, () => sent.push(time.now()));
    await time.run(() => {
      store.network = "refuses";
      call();
      time.at(500, () => (store.network = "up"));
      time.at(1_500, call);
    }, 9_000);
    expect(releases.filter(({ isReturning }) => isReturning).map(({ at }) => at)).toEqual([1_003]);
    // 2.5 s are left to the others, and the recovery takes five.
    expect(sent[0]).toBe(1);
    expect(sent[1]).toBeGreaterThan(6_000);
  });

  it("needs a recovery after more than two heartbeats", async () => {
    const { time, store, releases, process, acquire } = setUp();
    await time.run(() => {
      acquire(process(), (permit) => permit.release("responded"));
      time.at(1_500, () => (store.network = "refuses"));
      time.at(7_000, () => (store.network = "up"));
    }, 9_000);
    expect(releases.filter(({ isReturning }) => isReturning)).toHaveLength(1);
  });

  it("gets the releases of the outage afterwards, and one request for several failures", async () => {
    const { time, store, releases, process, acquire } = setUp();
    const limiter = process();
    const permits: Permit[] = [];
    await time.run(() => {
      for (let call = 0; call < 3; call += 1) acquire(limiter, (permit) => permits.push(permit));
      time.at(1_000, () => {
        store.network = "refuses";
        permits[0]!.release("responded");
        acquire(limiter);
      });
      time.at(1_500, () => permits[1]!.release("responded"));
      time.at(3_500, () => permits[2]!.release("responded"));
    }, 5_500);
    expect(releases.map(({ at }) => at)).toEqual([1_000, 2_001, 3_002, 4_003, 5_004]);
  });
});

describe("A second outage before all processes have reported their permits", () => {
  const half = { localShare: 1 / 2 };
  const minute = [
    { limit: 4, intervalMs: 1_000 },
    { limit: 40, intervalMs: 60_000 },
  ];

  /** A process that has contacted Redis with `calls` calls, and the times of all its requests in a minute. */
  function met(calls: number) {
    const { time, store, process, acquire } = setUp(half);
    const limiter = process({ windows: minute });
    const sent: number[] = [];
    const call = (times: number) => {
      for (let index = 0; index < times; index += 1) {
        acquire(limiter, (permit) => {
          sent.push(time.now());
          permit.release("responded");
        });
      }
    };
    const other = process({ windows: minute });
    const begin = () => {
      call(calls);
      // Another live process, which has sent nothing.
      acquire(other, (permit) => permit.release("unsent"));
    };
    return { time, store, sent, call, begin };
  }

  it("is bridged with the count from before the loss of data", async () => {
    const { time, store, sent, call, begin } = met(10);
    await time.run(() => {
      begin();
      time.at(5_000, () => store.loseMemory());
      // Between the heartbeat that shows the loss and the release of all permits.
      time.at(6_002.5, () => (store.network = "refuses"));
      time.at(7_000, () => call(30));
    }, 60_000);
    // 10 of 40 are used and 4 may have been sent since: half of 26.
    expect(sent.filter((at) => at > 5_000)).toHaveLength(13);
  });

  it("is bridged with the latest count of Redis, and not with an earlier one", async () => {
    const { time, store, sent, call, begin } = met(20);
    await time.run(() => {
      begin();
      // Between the heartbeat at which all permits have left the window, and the next.
      time.at(66_500, () => (store.network = "refuses"));
      time.at(69_000, () => call(40));
    }, 125_000);
    // 8 may have been sent since the last heartbeat: half of 32.
    expect(sent.filter((at) => at > 66_500)).toHaveLength(16);
  });

  it("is bridged with a count that includes the requests that others may have sent in the first outage", async () => {
    const { time, store, sent, call, begin } = met(1);
    await time.run(() => {
      begin();
      time.at(1_500, () => (store.network = "refuses"));
      time.at(2_500, () => call(5));
      time.at(12_000, () => (store.network = "up"));
      time.at(13_500, () => (store.network = "refuses"));
      time.at(15_000, () => call(30));
    }, 60_000);
    const alone = sent.filter((at) => at > 13_500);
    expect(sent.length - alone.length).toBe(6);
    // 6 of 40, 16 as half of the 31 that were left in the first outage, and 8 since: half of 10.
    expect(alone).toHaveLength(5);
  });

  it("is bridged with the count of Redis after its recovery", async () => {
    const { time, store, sent, call, begin } = met(1);
    await time.run(() => {
      begin();
      time.at(1_500, () => (store.network = "refuses"));
      time.at(2_500, () => call(5));
      time.at(12_000, () => (store.network = "up"));
      time.at(20_000, () => (store.network = "refuses"));
      time.at(21_000, () => call(30));
    }, 60_000);
    // 6 of 40 are used and 8 may have been sent since: half of 26.
    expect(sent.filter((at) => at > 20_000)).toHaveLength(13);
  });

  it("is bridged with the count of Redis if nothing was sent in a short first outage", async () => {
    const { time, store, sent, call, begin } = met(1);
    await time.run(() => {
      begin();
      time.at(1_500, () => (store.network = "refuses"));
      time.at(2_500, () => (store.network = "up"));
      time.at(3_500, () => (store.network = "refuses"));
      time.at(5_000, () => call(30));
    }, 60_000);
    // 1 of 40 is used and 8 may have been sent since: half of 31.
    expect(sent.filter((at) => at > 3_500)).toHaveLength(15);
  });
});

describe("A limiter with a Redis store", () => {
  it("grants a permit at once with `maxQueued: 0`, as long as Redis has permits", async () => {
    const { time, process, acquire } = setUp();
    const sent: number[] = [];
    await time.run(() => acquire(process({ maxQueued: 0 }), () => sent.push(time.now())), 1_000);
    expect(sent).toEqual([2]);
  });

  it("sends a new acquire request for a call that comes after the reply, without a wait", async () => {
    const { time, acquires, process, acquire } = setUp();
    const limiter = process();
    await time.run(() => acquire(limiter, () => acquire(limiter)), 1_000);
    expect(acquires.map(({ at }) => at)).toEqual([0, 2]);
  });

  it("grants no permit during a pause, even while Redis is unavailable", async () => {
    const { time, store, process, acquire } = setUp({ localShare: 1 });
    const limiter = process();
    const sent: number[] = [];
    await time.run(() => {
      store.network = "refuses";
      acquire(limiter, () => {
        limiter.refused(3_000);
        acquire(limiter, () => sent.push(time.now()));
      });
    }, 5_000);
    expect(sent).toEqual([3_001]);
  });

  it("returns in its usage the rest of a pause that another process reported", async () => {
    const { time, process, acquire } = setUp();
    const [one, other] = [process(), process()];
    const pausedMs: number[] = [];
    await time.run(() => {
      one.refused(3_000);
      time.at(500, () => acquire(other));
      time.at(1_000, () => pausedMs.push(other.usage().pausedMs));
    }, 1_000);
    expect(pausedMs).toEqual([2_002]);
  });

  it("counts a call as in flight until its permit is released, whatever its end", async () => {
    const { time, process, acquire } = setUp();
    const limiter = process();
    const permits: Permit[] = [];
    const inFlight: number[] = [];
    const look = () => inFlight.push(limiter.usage().inFlight);
    await time.run(() => {
      for (let call = 0; call < 3; call += 1) acquire(limiter, (permit) => permits.push(permit));
      time.at(100, () => {
        look();
        for (const end of ["responded", "unsent", "lost"] as const) {
          permits.shift()!.release(end);
          look();
        }
      });
    }, 200);
    expect(inFlight).toEqual([3, 2, 1, 0]);
  });

  it("estimates with the round trip of its responses", async () => {
    const { time, process, acquire } = setUp();
    const limiter = process();
    const estimates: number[] = [];
    await time.run(() => {
      acquire(limiter, (permit) => time.after(800, () => permit.release("lost")));
      acquire(limiter, (permit) => time.after(400, () => permit.release("responded")));
      time.at(1_000, () => estimates.push(limiter.estimateMs(1)));
    }, 1_000);
    expect(estimates).toEqual([400]);
  });

  it("leaves an unsent request out of a snapshot, even before it is reported to Redis", async () => {
    const { time, store, process, acquire } = setUp({ localShare: 1 });
    const limiter = process();
    const answeredAt: (readonly number[])[] = [];
    await time.run(() => {
      store.network = "refuses";
      acquire(limiter, (permit) => permit.release("unsent"));
      time.at(100, () => answeredAt.push(limiter.snapshot().answeredAt));
    }, 200);
    expect(answeredAt).toEqual([[]]);
  });

  it("counts a request in flight in a snapshot until it can last have arrived", async () => {
    const { time, process, acquire } = setUp();
    const limiter = process();
    const graceMs: number[] = [];
    await time.run(() => {
      acquire(limiter, () => {});
      time.at(100, () => {
        const { takenAt, answeredAt } = limiter.snapshot();
        graceMs.push(...answeredAt.map((at) => at - takenAt));
      });
    }, 200);
    expect(graceMs).toEqual([5_000]);
  });

  it("forgets its permits once they have left the longest window, also in a snapshot", async () => {
    const { time, process, acquire } = setUp();
    const limiter = process();
    const kept: number[] = [];
    const look = () => kept.push(limiter.snapshot().answeredAt.length);
    await time.run(() => {
      acquire(limiter, (permit) => permit.release("responded"));
      time.at(60_000, look);
      time.at(60_100, look);
    }, 61_000);
    expect(kept).toEqual([1, 0]);
  });

  it("counts the permits of each window, whatever the order of the windows", async () => {
    const { time, process, acquire } = setUp();
    const limiter = process({ windows: windows.toReversed() });
    const used: number[][] = [];
    await time.run(() => {
      for (let call = 0; call < 10; call += 1) acquire(limiter, (permit) => permit.release("responded"));
      time.at(100, () => used.push(limiter.usage().windows.map((window) => window.used)));
    }, 100);
    expect(used).toEqual([[10, 10]]);
  });

  it("counts the permits of a snapshot in each window, if Redis is unavailable from the start", async () => {
    const { time, store, process, acquire } = setUp({ localShare: 1 });
    const limiter = process();
    const sent: number[] = [];
    await time.run(() => {
      for (let call = 0; call < 10; call += 1) acquire(limiter, (permit) => permit.release("responded"));
      time.at(5_000, () => {
        store.network = "refuses";
        const restarted = process({ snapshot: limiter.snapshot() });
        for (let call = 0; call < 10; call += 1) acquire(restarted, () => sent.push(time.now()));
      });
    }, 5_500);
    expect(sent).toEqual(Array(10).fill(5_001));
  });

  it("uses its share of the permits that remained at the last contact, and not at an earlier one", async () => {
    const { time, store, process, acquire } = setUp({ localShare: 1 });
    const limiter = process({ windows: [windows[0]!, { limit: 100, intervalMs: 60_000 }] });
    const sent: number[] = [];
    await time.run(() => {
      time.at(100_000, () => acquire(limiter, (permit) => permit.release("responded")));
      time.at(100_500, () => (store.network = "refuses"));
      time.at(100_600, () => {
        for (let call = 0; call < 100; call += 1) acquire(limiter, () => sent.push(time.now()));
      });
    }, 130_000);
    // One was sent before, and others may have sent ten since.
    expect(sent).toHaveLength(10);
  });

  it("uses no permit whose reply took more than half of its lease", async () => {
    let delayMs = 300;
    const { time, store, process, acquire } = setUp({ leaseMs: 1_000, delayMs: () => delayMs });
    const sent: number[] = [];
    await time.run(() => {
      acquire(process(), () => sent.push(time.now()));
      time.at(3_000, () => (delayMs = 1));
    }, 5_000);
    expect(sent).toHaveLength(1);
    expect(sent[0]).toBeGreaterThan(3_000);
    expect(store.inFlight).toBe(1);
  });
});
