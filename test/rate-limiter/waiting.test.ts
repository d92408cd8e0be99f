import { getEventListeners } from "node:events";
import { RateLimiter, RateLimitWaitError } from "audience-sdk";
import { describe, expect, it, vi } from "vitest";
import { type Permit, type PermitRequest, VirtualTime } from "./virtual-time.ts";

/** A limiter in virtual time, whose calls get their responses after 100 ms, and a log of the calls. */
function start(options: ConstructorParameters<typeof RateLimiter>[0] = {}) {
  const time = new VirtualTime();
  const limiter = new RateLimiter({ clock: time.now, ...options });
  const log: string[] = [];
  const leftAt = new Map<string, number>();
  const call = (name: string, request: PermitRequest = {}): void => {
    const use = (permit: Permit): void => {
      log.push(name);
      leftAt.set(name, time.now());
      time.after(100, () => permit.release("responded"));
    };
    const fail = (error: unknown): void => void log.push(`${name}: ${(error as Error).name}`);
    limiter.acquire(request).then(use, fail);
  };
  const calls = (number: number, name: string, request?: PermitRequest): void => {
    for (let index = 1; index <= number; index += 1) call(`${name}${index}`, request);
  };
  return { time, limiter, log, leftAt, call, calls };
}

const oneASecond = { windows: [{ limit: 1, intervalMs: 1_000 }] };

describe("a permit", () => {
  it("of an idle limiter is granted in the turn of the call: ten leave together", async () => {
    const { limiter, log, calls } = start();
    calls(11, "call ");
    expect(limiter.usage()).toMatchObject({ queued: 1, inFlight: 10 });
    await new Promise(setImmediate);
    expect(log).toEqual(Array.from({ length: 10 }, (_, index) => `call ${index + 1}`));
  });

  it("is available again one window after its response, and only once", async () => {
    const { time, limiter } = start(oneASecond);
    const leftAt: number[] = [];
    await time.run(async () => {
      const permit = await limiter.acquire();
      time.at(700, () => permit.release("responded"));
      time.at(900, () => permit.release("responded"));
      time.at(900, () => permit.release("unsent"));
      void limiter.acquire().then(() => leftAt.push(time.now()));
    }, 10_000);
    expect(leftAt[0]).toBeGreaterThanOrEqual(1_700);
    expect(leftAt[0]).toBeLessThan(1_720);
  });

  it("is available again after a grace period if its request was lost and may still arrive", async () => {
    const { time, limiter, leftAt, call } = start(oneASecond);
    await time.run(async () => {
      const permit = await limiter.acquire();
      call("next");
      time.at(50, () => permit.release("lost"));
    }, 10_000);
    expect(leftAt.get("next")).toBeGreaterThanOrEqual(6_050);
    expect(leftAt.get("next")).toBeLessThan(6_080);
  });

  it("of an unsent request goes to the queue at once: a later call does not overtake the waiting ones", async () => {
    const { time, limiter, log, call } = start({ windows: [{ limit: 2, intervalMs: 1_000 }] });
    await time.run(async () => {
      const permits = await Promise.all([limiter.acquire(), limiter.acquire()]);
      call("first");
      call("second");
      for (const permit of permits) permit.release("unsent");
      call("third");
      time.at(1, () => log.push("a moment later"));
    }, 10_000);
    expect(log).toEqual(["first", "second", "a moment later", "third"]);
  });

  it("is granted as soon as it is available, even if that was expected later", async () => {
    const { time, limiter, leftAt, call } = start({ windows: [{ limit: 2, intervalMs: 1_000 }] });
    await time.run(async () => {
      const [lost, slow] = await Promise.all([limiter.acquire(), limiter.acquire()]);
      lost.release("lost");
      call("next");
      time.at(100, () => slow.release("responded"));
    }, 10_000);
    expect(leftAt.get("next")).toBeCloseTo(1_106, -1);
  });
});

describe("the next call", () => {
  it("is the one with the lowest priority number, and then the earliest; the default is 5", async () => {
    const { time, log, call } = start(oneASecond);
    await time.run(() => {
      call("first");
      call("nine", { priority: 9 });
      call("none");
      call("five", { priority: 5 });
      call("zero", { priority: 0 });
      call("refused nine", { priority: 9, isRequeued: true });
      call("refused", { priority: 8, isRequeued: true });
    }, 10_000);
    // A refused call of priority 9 goes before the others of its priority only.
    expect(log).toEqual(["first", "refused", "zero", "none", "five", "refused nine", "nine"]);
  });

  it("is the earliest of the next client (round robin)", async () => {
    const { time, log, call } = start(oneASecond);
    const [one, other] = [{}, {}];
    await time.run(() => {
      call("0");
      for (const name of ["a1", "a2", "a3"]) call(name, { client: one });
      for (const name of ["b1", "b2"]) call(name, { client: other });
    }, 10_000);
    expect(log).toEqual(["0", "a1", "b1", "a2", "b2", "a3"]);
  });
});

it("A call leaves no listener and no timer behind, whether it got its permit at once or later, or was aborted", async () => {
  const { time, limiter } = start();
  const controllers = Array.from({ length: 14 }, () => new AbortController());
  const ends: string[] = [];
  await time.run(() => {
    for (const { signal } of controllers)
      limiter.acquire({ signal, maxWaitMs: 1e9 }).then(
        (permit) => {
          ends.push(time.now() === 0 ? "at once" : "later");
          permit.release("responded");
        },
        () => ends.push("aborted"),
      );
    for (const controller of controllers.slice(12)) controller.abort();
  });
  const ten = Array<string>(10).fill("at once");
  expect(ends).toEqual([...ten, "aborted", "aborted", "later", "later"]);
  expect(limiter.usage().queued).toBe(0);
  for (const { signal } of controllers) expect(getEventListeners(signal, "abort")).toHaveLength(0);
  expect(time.pendingTimers).toBe(0);
});

describe("a bound on waiting", () => {
  it("rejects a call at once that would wait longer than `maxWaitMs`, with the time of the next try", async () => {
    const { time, limiter, call } = start({ maxWaitMs: 800 });
    let error: unknown;
    await time.run(() => {
      for (let index = 0; index < 10; index += 1) call(`call ${index}`);
      time.at(600, () => {
        call("in time");
        void limiter.acquire({ maxWaitMs: 100 }).catch((reason: unknown) => (error = reason));
      });
    }, 650);
    expect(error).toBeInstanceOf(RateLimitWaitError);
    expect(error).toMatchObject({
      waitMs: 506,
      window: { limit: 10, intervalMs: 1_000 },
      // The time of day at which virtual time begins, and the time since.
      retryAt: new Date(Date.UTC(2026, 0) + 600 + 506),
      outcome: "not-sent",
    });
    expect(limiter.usage().queued).toBe(1);
  });

  it("is named in the error: the longest wait of the call, or the length of the queue", async () => {
    const { time, limiter } = start({ ...oneASecond, maxQueued: 1 });
    const messages: string[] = [];
    const acquire = (request: PermitRequest = {}) =>
      void limiter.acquire(request).catch((error: unknown) => messages.push((error as Error).message));
    await time.run(() => {
      acquire();
      acquire({ maxWaitMs: 100.4 });
      acquire({ maxWaitMs: 1_100 });
      acquire();
      time.at(50, () => limiter.refused(5_000));
    }, 200);
    const tooLong = (waitMs: number) =>
      `No permit. The wait of ${waitMs} ms is longer than \`maxWaitMs\` or \`deadlineMs\` allows (a call's, or its client's).`;
    const isFull = "No permit. The queue is full: `maxQueued` is 1.";
    expect(messages).toEqual([tooLong(1_006), isFull, tooLong(5_000)]);
  });

  it.each([
    ["no window if none is full", 1, undefined],
    ["the window that is full", 2, { limit: 2, intervalMs: 60_000 }],
  ])("names, in a pause after a 429, %s", async (_, calls, window) => {
    const { limiter } = start({ windows: [{ limit: 2, intervalMs: 60_000 }] });
    for (let call = 1; call <= calls; call += 1) (await limiter.acquire()).release("responded");
    limiter.refused(5_000);
    const error: unknown = await limiter.acquire({ maxWaitMs: 10 }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RateLimitWaitError);
    expect((error as RateLimitWaitError).window).toEqual(window); // checked above
  });

  it("lets a row wait that gets its permit in time: other calls go before it, and what they used comes back", async () => {
    const { time, limiter, leftAt, log, call, calls } = start();
    const [asksAt, waitMs] = [15 * 60_000, 2_705_200];
    let error: unknown;
    await time.run(() => {
      calls(30, "earlier row ", { priority: 9 });
      time.at(10_000, () => calls(990, "other "));
      time.at(asksAt, () => {
        log.length = 0;
        const ask = limiter.acquire({ priority: 9, maxWaitMs: 0 });
        void ask.catch((reason: unknown) => (error = reason));
        call("row", { priority: 9, maxWaitMs: 1.05 * waitMs });
        call("hasty row", { priority: 9, maxWaitMs: 0.95 * waitMs });
      });
    });
    expect(log).toEqual([
      "hasty row: RateLimitWaitError",
      ...Array.from({ length: 20 }, (_, index) => `other ${971 + index}`),
      "row",
    ]);
    expect((leftAt.get("row")! - asksAt) / waitMs).toBeCloseTo(1, 2);
    expect((error as RateLimitWaitError).waitMs / waitMs).toBeCloseTo(1, 2);
  });

  it.each([
    [0.1, 200],
    [0.5, 80],
    [0.9, 20],
    [0.9, 80],
  ])(
    "holds for each call of priority 9, with a reserve of %d, beside a worker of this priority and %i other calls an hour",
    async (reserve, othersPerHour) => {
      const { time, limiter } = start({ reserve });
      const [hourMs, maxWaitMs] = [3_600_000, 2_000];
      const settledAfter: number[] = [];
      async function send(request: PermitRequest): Promise<void> {
        const permit = await limiter.acquire(request);
        time.after(200, () => permit.release("responded"));
        await new Promise<void>((resolve) => void time.after(200, resolve));
      }
      async function work(): Promise<void> {
        for (;;) await send({ priority: 9 });
      }
      await time.run(() => {
        for (let call = 0; call < 2 * othersPerHour; call += 1)
          time.at(1 + (call * hourMs) / othersPerHour, () => void send({}));
        time.at(1_000, () => void work());
        for (let at = 0.3 * hourMs; at < 2 * hourMs; at += 97_300)
          time.at(at, () => {
            const settle = () => void settledAfter.push(time.now() - at);
            limiter.acquire({ priority: 9, maxWaitMs }).then((permit) => {
              settle();
              permit.release("responded");
            }, settle);
          });
      }, 2 * hourMs);
      expect(settledAfter).toHaveLength(63);
      expect(Math.max(...settledAfter)).toBeLessThanOrEqual(maxWaitMs);
    },
  );

  it("leaves no timer behind for a call that it rejects", async () => {
    const { time, log, call } = start(oneASecond);
    await time.run(() => {
      call("first");
      call("second", { maxWaitMs: 0 });
      time.at(50, () => log.push(String(time.pendingTimers)));
    }, 90);
    // That of the response.
    expect(log).toEqual(["first", "second: RateLimitWaitError", "1"]);
  });

  it("that rejected a call holds up no later one, which finds nobody waiting", async () => {
    const { time, leftAt, call } = start(oneASecond);
    await time.run(() => {
      call("first");
      time.at(200, () => call("impatient", { maxWaitMs: 0 }));
      time.at(400, () => call("later"));
    }, 10_000);
    expect(leftAt.get("later")).toBeLessThan(1_120);
  });

  it("is inclusive: a call waits for exactly `maxWaitMs`", async () => {
    const { time, limiter, log, call } = start(oneASecond);
    await time.run(async () => {
      (await limiter.acquire()).release("responded");
      call("patient", { maxWaitMs: 1_005.5 });
      call("impatient", { maxWaitMs: 1_005.4 });
    }, 2_000);
    expect(log).toEqual(["impatient: RateLimitWaitError", "patient"]);
  });

  it("rejects a call as soon as calls before it make its wait too long", async () => {
    const { time, log, call } = start({ windows: [{ limit: 1, intervalMs: 1_000 }] });
    const at: number[] = [];
    await time.run(() => {
      call("first");
      call("patient", { maxWaitMs: 1_500, priority: 9 });
      time.at(500, () => call("urgent", { priority: 0 }));
      time.at(1_200, () => at.push(log.length));
    }, 5_000);
    expect(log).toEqual(["first", "urgent", "patient: RateLimitWaitError"]);
    expect(at).toEqual([3]);
  });

  it("rejects a call at once if `maxQueued` others wait already that go before it, but never one that got a 429 or had its position before", async () => {
    const { time, limiter, log, call } = start({ ...oneASecond, maxQueued: 1 });
    await time.run(() => {
      const position = limiter.dispatcher.queue.takePosition();
      call("first");
      call("row", { priority: 9 });
      call("second");
      call("third");
      call("fourth", { maxQueued: 2 });
      call("second row", { priority: 9 });
      call("refused", { isRequeued: true });
      call("also refused", { isRequeued: true });
      call("in its second queue", { position });
    }, 10_000);
    expect(log).toEqual([
      "first",
      "third: RateLimitWaitError",
      "second row: RateLimitWaitError",
      "refused",
      "also refused",
      "in its second queue",
      "second",
      "fourth",
      "row",
    ]);
  });

  it("is asked for beforehand by a call that would find the queue full", async () => {
    const { limiter, call } = start({ ...oneASecond, maxQueued: 1 });
    const { dispatcher } = limiter;
    (await limiter.acquire()).release("responded");
    // It is not known yet that there is no permit.
    expect(dispatcher.fullQueue(5, 0)).toBeUndefined();
    await expect(limiter.acquire({ maxWaitMs: 0 })).rejects.toThrow(RateLimitWaitError);
    expect(dispatcher.fullQueue(5, 0)).toMatchObject({ waitMs: 1_006 });
    call("waits");

    const message = "No permit. The queue is full: `maxQueued` is 1.";
    const refusal = { message, waitMs: Math.ceil(2 * 1_005.5) };
    expect([dispatcher.fullQueue(), dispatcher.fullQueue(9)]).toMatchObject([refusal, refusal]);
    // Of its priority, or a higher one.
    expect([dispatcher.fullQueue(4), dispatcher.fullQueue(5, 2)]).toEqual([undefined, undefined]);
  });

  it("has the expected wait in the error for a full queue, and reports no wait to the call", async () => {
    const { limiter } = start({ ...oneASecond, maxQueued: 1 });
    (await limiter.acquire()).release("responded");
    void limiter.acquire();
    const onWait = vi.fn();
    await expect(limiter.acquire({ onWait })).rejects.toMatchObject({ waitMs: Math.ceil(2 * 1_005.5) });
    expect(onWait).not.toHaveBeenCalled();
  });

  it("reports the expected wait to a call once", async () => {
    const { time, calls, call } = start();
    const waits: number[] = [];
    await time.run(() => {
      calls(30, "call ");
      call("last", { onWait: ({ waitMs }) => waits.push(waitMs) });
    }, 20_000);
    // The fourth ten leave after three windows, because the round trip is not known yet.
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeCloseTo(3 * 1_005.5, 0);
  });
});

describe("the expected wait", () => {
  const oneEach100Ms = { windows: [{ limit: 1, intervalMs: 100 }] };
  const round = 100 * 1.0005 + 5;

  /** How many calls go before each of these, computed from its expected wait. */
  async function before(calls: { client: object; priority?: number }[]): Promise<number[]> {
    const { limiter, call } = start(oneEach100Ms);
    (await limiter.acquire()).release("responded");
    const waits: number[] = [];
    for (const request of calls) call("call", { ...request, onWait: ({ waitMs }) => waits.push(waitMs) });
    await new Promise(setImmediate);
    return waits.map((waitMs) => Math.round(waitMs / round) - 1);
  }

  it("respects the round robin: behind a client with many calls, only one of them counts per round", async () => {
    const [greedy, modest, third] = [{}, {}, {}];
    const calls = [greedy, greedy, greedy, greedy, modest, modest, third, greedy].map((client) => ({
      client,
    }));
    expect(await before(calls)).toEqual([0, 1, 2, 3, 1, 3, 2, 7]);
  });

  it("respects the priorities", async () => {
    const client = {};
    const calls = [5, 9, 0, 5].map((priority) => ({ client, priority }));
    expect(await before(calls)).toEqual([0, 1, 0, 2]);
  });
});
