// It reaches into `src` for the memory of a process, in the place of a store that replies late: a store of a user's own has no
// documented methods, and Redis in its place would bring its heartbeats, leases and outages.
import { AsyncLocalStorage } from "node:async_hooks";
import { AudienceClient, RateLimiter, type RateLimitStore } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { MemoryStore, type Reply } from "../../src/rate-limiter/store.ts";
import { type PermitRequest, VirtualTime } from "./virtual-time.ts";

/** A store that answers like the memory of the process, but only after `delay` has resolved; `disturb` changes its replies. */
function slowStore(
  delay: () => Promise<unknown>,
  disturb: (reply: Reply) => Reply = (reply) => reply,
): RateLimitStore & { readonly asked: string[]; readonly change: () => void } {
  const asked: string[] = [];
  let change = (): void => undefined;
  return {
    onUnavailable: "local",
    localShare: 1,
    leaseMs: 10_000,
    asked,
    change: () => change(),
    open(user) {
      change = user.onChange;
      const memory = new MemoryStore(user);
      return {
        warning: undefined,
        async take(ask) {
          asked.push(`${ask.calls} of ${ask.isLast ? "priority 9" : "the others"}`);
          await delay();
          return disturb(memory.take(ask, user.clock()));
        },
        known: (now) => memory.known(now),
        tell: () => memory.tell(),
        settled: () => memory.settled(),
      };
    },
  };
}

/** A limiter whose store takes 20 ms for a reply, and a log of its calls. */
function start({
  options = {},
  disturb,
}: {
  options?: ConstructorParameters<typeof RateLimiter>[0];
  disturb?: (reply: Reply, time: VirtualTime) => Reply;
} = {}) {
  const time = new VirtualTime();
  const store = slowStore(
    () => new Promise<void>((resolve) => void time.after(20, resolve)),
    (reply) => disturb?.(reply, time) ?? reply,
  );
  const limiter = new RateLimiter({ clock: time.now, store, ...options });
  const log: string[] = [];
  const call = (name: string, request: PermitRequest = {}) =>
    limiter.acquire(request).then(
      (permit) => {
        log.push(`${time.now()}: ${name}`);
        return permit;
      },
      (error: unknown) => void log.push(`${time.now()}: ${name}: ${(error as Error).message}`), // of this package
    );
  const calls = (count: number, name: string, request?: PermitRequest): void => {
    for (let index = 1; index <= count; index += 1) void call(`${name} ${index}`, request);
  };
  return { time, store, limiter, log, call, calls };
}

const ofTwo = { windows: [{ limit: 2, intervalMs: 60_000 }] };
const names = (log: string[]) => log.map((line) => line.replace(/: No permit.*/, " refused"));

describe("A store that is asked", () => {
  it("is asked once for the calls that come together, and the time of its reply counts for no `maxWaitMs`", async () => {
    const { time, store, log, calls } = start({ options: { maxWaitMs: 0 } });
    await time.run(() => calls(3, "call"), 1_000);
    // The first call is asked for at once.
    expect(store.asked).toEqual(["1 of the others", "2 of the others"]);
    expect(log).toEqual(["20: call 1", "40: call 2", "40: call 3"]);
  });

  it("is asked for the class of the first call: the others before those of priority 9", async () => {
    const { time, store, log, call, calls } = start();
    await time.run(() => {
      calls(2, "row", { priority: 9 });
      void call("page view");
    }, 1_000);
    expect(store.asked).toEqual(["1 of priority 9", "1 of the others", "2 of priority 9"]);
    // The permit for the first row came back, as the page view goes first.
    expect(log).toEqual(["40: page view", "60: row 1", "60: row 2"]);
  });

  it("is asked for a call of another class that came meanwhile, though it has no permit for those of priority 9", async () => {
    const { time, log, call, calls } = start({ options: ofTwo });
    await time.run(() => {
      calls(2, "row", { priority: 9 });
      // One permit is left for the others.
      time.at(30, () => void call("page view", { maxWaitMs: 0 }));
    }, 1_000);
    expect(log).toEqual(["20: row 1", "60: page view"]);
  });

  it("gets a permit back whose call has left meanwhile", async () => {
    const { time, limiter, log, call } = start({ options: ofTwo });
    const controller = new AbortController();
    await time.run(() => {
      void call("left", { signal: controller.signal });
      time.at(10, () => controller.abort(new Error("gone")));
      time.at(30, () => {
        expect(limiter.usage()).toMatchObject({ inFlight: 0, queued: 0 });
        void call("first");
        void call("second");
      });
    }, 1_000);
    expect(log).toEqual(["10: left: gone", "50: first", "70: second"]);
  });

  it("refuses calls that cannot wait, and the latest beyond `maxQueued`, once it has no permit for them", async () => {
    const { time, log, call, calls } = start({ options: { ...ofTwo, maxQueued: 1 } });
    await time.run(() => {
      calls(4, "call");
      void call("impatient", { maxWaitMs: 10 });
      void call("late");
    }, 1_000);
    expect(names(log)).toEqual([
      "20: call 1",
      "40: call 2",
      "40: impatient refused",
      "40: late refused",
      "40: call 4 refused",
    ]);
  });

  it("counts the `maxQueued` of each call for that call alone, also of one that came before", async () => {
    const { time, limiter, log, call } = start({ options: { windows: [{ limit: 1, intervalMs: 60_000 }] } });
    await time.run(() => {
      void call("first");
      void call("in a long queue", { maxQueued: 9 });
      void call("in none", { maxQueued: 0 });
      void call("refused for its rate", { maxQueued: 0, isRequeued: true });
      time.at(100, () => void call("late", { maxQueued: 1 }));
    }, 1_000);
    // The permit that was asked for the first call goes to the refused one, which is of its class.
    expect(names(log)).toEqual(["20: refused for its rate", "40: in none refused", "100: late refused"]);
    expect(limiter.usage().queued).toBe(2);
  });

  it("is asked again when something has changed during its reply", async () => {
    let isFirst = true;
    const { time, store, limiter, log, call } = start({
      disturb: (reply) => {
        if (!isFirst) return reply;
        isFirst = false;
        for (const release of reply.permits) release("unsent", time.now());
        // Its reply is out of date when it comes.
        store.change();
        return { permits: [], waitMs: 50_000 };
      },
    });
    await time.run(() => void call("call"), 1_000);
    expect(log).toEqual(["40: call"]);
    expect(limiter.usage().queued).toBe(0);
  });

  it("keeps the process alive, by a timer, only while a call waits for its reply", async () => {
    const { time, call } = start();
    const pending: number[] = [];
    await time.run(() => {
      void call("call");
      // The reply, the timer, and this one.
      time.at(10, () => pending.push(time.pendingTimers));
      time.at(30, () => pending.push(time.pendingTimers));
    }, 1_000);
    expect(pending).toEqual([3, 0]);
  });
});

describe("The log lines and hooks of a call that waits run in its own async context", () => {
  it.each([
    ["in memory", undefined],
    ["with a store", slowStore(async () => undefined)],
  ])("%s", async (_, store) => {
    const windows = [{ limit: 2, intervalMs: 200 }];
    const contexts = new AsyncLocalStorage<string>();
    const seen: string[] = [];
    const audience = new AudienceClient({
      baseUrl: "https://api.example.com",
      apiKey: "abcdefgh",
      rateLimiter: new RateLimiter({ windows, store }),
      fetch: async () => Response.json({ data: { id: "1" } }),
      logLevel: "debug",
      logger: {
        debug: (line) => void (line.includes("for the rate limit") && seen.push(`${contexts.getStore()}`)),
      },
    });
    const calls = Array.from({ length: 10 }, (__, index) =>
      contexts.run(`call ${index}`, () => audience.v1.customers.get("1")),
    );
    await Promise.all(calls);
    expect(seen).toEqual(["2", "3", "4", "5", "6", "7", "8", "9"].map((index) => `call ${index}`));
  });
});
