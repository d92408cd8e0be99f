import { expect, it } from "vitest";
import { RateLimitWaitError } from "../../src/errors.ts";
import { RateLimiter } from "../../src/rate-limiter/rate-limiter.ts";
import { storeOf } from "../../src/redis/redis-store.ts";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryScripts } from "../redis/memory-scripts.ts";

/** A limiter on a Redis store, and a log of the end of each call. */
function start(maxQueued: number, limit = 10) {
  const time = new VirtualTime();
  const store = new MemoryScripts({ time, delayMs: () => 5 });
  const windows = [{ limit, intervalMs: 60_000 }];
  const limiter = new RateLimiter({ clock: time.now, store: storeOf(store, store), windows, maxQueued });
  const log: string[] = [];
  const call = (name: string, request: object = {}): void => {
    void Promise.resolve(limiter.acquire(request)).then(
      (permit) => {
        log.push(`${time.now()}: ${name}`);
        permit.release("responded");
      },
      (error: unknown) => {
        expect(error).toBeInstanceOf(RateLimitWaitError);
        log.push(`${time.now()}: ${name} refused: ${(error as Error).message}`); // checked above
      },
    );
  };
  const names = () => log.map((line) => line.replace(/ refused: .*/, " refused"));
  return { time, store, limiter, log, call, names };
}

const many = (count: number) => Array.from({ length: count }, (_, index) => `call ${index + 1}`);

// All ten wait for the reply of Redis, although there is a permit for each.
it.each([0, 3])("With `maxQueued: %i` an idle limiter grants ten permits at once", async (maxQueued) => {
  const { time, call, names } = start(maxQueued);
  await time.run(() => many(10).forEach((name) => call(name)), 1_000);
  expect(names()).toEqual(many(10).map((name) => `10: ${name}`));
});

it("Calls beyond `maxQueued` are rejected as soon as Redis has no permit for them, the latest first", async () => {
  const { time, limiter, call, names, log } = start(1, 3);
  await time.run(() => many(6).forEach((name) => call(name)), 1_000);
  expect(names()).toEqual([
    "10: call 1",
    "10: call 2",
    "10: call 3",
    "10: call 6 refused",
    "10: call 5 refused",
  ]);
  expect(log.at(-1)).toBe("10: call 5 refused: No permit. The queue is full: `maxQueued` is 1.");
  expect(limiter.usage().queued).toBe(1);
});

it("After such a reply a call beyond `maxQueued` is rejected without another request to Redis", async () => {
  const { time, store, call, names } = start(1, 1);
  await time.run(() => {
    many(2).forEach((name) => call(name));
    time.at(100, () => {
      call("late");
      call("late, in a longer queue", { maxQueued: 2 });
    });
  }, 1_000);
  expect(names()).toEqual(["10: call 1", "100: late refused"]);
  expect(store.log.filter((name) => name === "acquire")).toHaveLength(1);
});

it("The `maxQueued` of a call applies to that call alone", async () => {
  const { time, limiter, call, names } = start(0, 1);
  await time.run(() => {
    call("first");
    call("in a long queue", { maxQueued: 9 });
    call("in none");
    call("refused with 429 before", { isRequeued: true });
  }, 1_000);
  expect(names()).toEqual(["10: refused with 429 before", "10: in none refused", "10: first refused"]);
  expect(limiter.usage().queued).toBe(1);
});

it("A queued call stays in the queue when calls with a larger `maxQueued` follow", async () => {
  const { time, limiter, call, names } = start(9, 1);
  await time.run(() => {
    call("first");
    call("second", { maxQueued: 2 });
    call("third");
    call("fourth");
  }, 1_000);
  expect(names()).toEqual(["10: first"]);
  expect(limiter.usage().queued).toBe(3);
});

it("A call that is dispatched or aborted is not rejected later", async () => {
  const { time, limiter, call, names } = start(0, 2);
  const controller = new AbortController();
  const reasons: unknown[] = [];
  await time.run(() => {
    call("first");
    const permit = limiter.acquire({ signal: controller.signal });
    void Promise.resolve(permit).catch((reason: unknown) => reasons.push(reason));
    call("third");
    controller.abort("called off");
    time.at(100, () => call("late"));
  }, 1_000);
  expect(reasons).toEqual(["called off"]);
  expect(names()).toEqual(["10: first", "10: third", "100: late refused"]);
});

it("While Redis is unavailable, calls beyond `maxQueued` are rejected once this process has no permit left", async () => {
  const { time, store, limiter, call, names } = start(1, 8);
  await time.run(() => {
    store.network = "refuses";
    many(5).forEach((name) => call(name));
  }, 500);
  // A quarter of 8.
  expect(names()).toEqual(["5: call 1", "5: call 2", "5: call 5 refused", "5: call 4 refused"]);
  expect(limiter.usage().queued).toBe(1);
});
