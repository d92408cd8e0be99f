import { type AudienceClient, type BulkProgress, RateLimiter } from "audience-sdk";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import {
  collectRun,
  createFixture,
  passUntil,
  passUntilSettled,
  upsert,
  useFakeTime,
  rows,
} from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

const tenAMinute = [{ limit: 10, intervalMs: 60_000 }];

/** A client of the mock in virtual time, whose requests are logged with the second in which they arrive. */
function start(clientOptions: ConstructorParameters<typeof AudienceClient>[0] = {}, reserve?: number) {
  const time = new VirtualTime();
  const rateLimiter = new RateLimiter({ clock: time.now, windows: tenAMinute, reserve });
  const lines: string[] = [];
  const throttled: (number | undefined)[] = [];
  const sentAt: number[] = [];
  const { mock, audience } = createFixture(
    {},
    {
      rateLimiter,
      fetch: (url, init) => {
        sentAt.push(time.now());
        return mock.fetch(url, init);
      },
      logger: { warn: (line) => void lines.push(line.replace(/.*\(request [^)]*\) /, "")) },
      hooks: { onThrottle: ({ waitMs }) => void throttled.push(waitMs && Math.round(waitMs / 1_000)) },
      ...clientOptions,
    },
  );
  return { time, mock, audience, sentAt, lines, throttled };
}

describe("A run", () => {
  it("leaves a permit of ten to other calls, which do not wait beside it", async () => {
    const { time, mock, audience, sentAt } = start();
    await time.run(() => {
      void audience.bulk(rows(18), upsert, { concurrency: 20 }).summary();
      time.at(5_000, () => void audience.v1.customers.list().toArray());
    }, 119_000);
    expect(sentAt.filter((at) => at < 60_000)).toHaveLength(10);
    expect(mock.requests[9]).toMatchObject({ operation: "v1.customers.list" });
  });

  it("that stands still for others says so, in the line and by `onThrottle` of a wait of more than ten seconds", async () => {
    const { time, audience, lines, throttled } = start();
    await time.run(() => void audience.bulk(rows(10), upsert, { concurrency: 20 }).summary(), 30_000);
    expect(lines).toEqual([
      expect.stringMatching(
        /^waits 600\d\d ms for the rate limit and leaves room for other calls \(reserve\)$/,
      ),
    ]);
    expect(throttled).toEqual([60]);
  });

  it("leaves no room with the option `reserve: 0` of the limiter", async () => {
    const { time, mock, audience, lines } = start({}, 0);
    await time.run(() => void audience.bulk(rows(11), upsert, { concurrency: 20 }).summary(), 30_000);
    expect(mock.requests).toHaveLength(10);
    expect(lines.join("")).not.toContain("reserve");
  });

  it.each([
    [undefined, 11],
    [0, 9],
  ])("estimates its end with the reserve, of its progress as of its check: %s", async (reserve, minutes) => {
    const etas: number[] = [];
    const { time, audience } = start({}, reserve);
    const onProgress = ({ done, etaMs }: BulkProgress) => void (done === 1 && etas.push(etaMs!));
    etas.push((await audience.bulk.check(rows(100), upsert)).estimateMs);
    await time.run(() => void audience.bulk(rows(100), upsert, { onProgress }).summary());
    expect(etas.map((etaMs) => Math.round(etaMs / 60_000))).toEqual([minutes, minutes]);
  });
});

describe("A row that is prepared", () => {
  beforeEach(useFakeTime);
  afterEach(() => void vi.useRealTimers());

  const windows = [
    { limit: 10, intervalMs: 1_000 },
    { limit: 100, intervalMs: 60_000 },
  ];

  it("An `isCurrent` that asks the service gets its permits, and the rows are sent", async () => {
    const rateLimiter = new RateLimiter({ windows });
    const { audience, mock } = createFixture({ latencyMs: 80 }, { rateLimiter });
    const isCurrent = async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      await audience.v1.contactGroups.list().toArray({ max: 1 });
      return true;
    };
    const run = collectRun(audience.bulk(rows(12), upsert, { isCurrent }));
    const { results } = await passUntilSettled(run);

    expect(results.map(({ status }) => status)).toEqual(rows(12).map(() => "succeeded"));
    expect(mock.requests.filter(({ method }) => method === "POST")).toHaveLength(12);
  });

  it.each(["isCurrent", "checkpoint"])(
    "While the %s of ten rows hangs, a page view is sent",
    async (option) => {
      let hanging = 0;
      const hang = () => new Promise<never>(() => void hanging++);
      /** The records of its rows are never written. */
      class HangingCheckpoint extends MemoryCheckpoint {
        override put = async (name: string, line: string, flush: boolean) =>
          await (name.startsWith("row:") ? hang() : super.put(name, line, flush));
      }
      const checkpoint = new HangingCheckpoint();
      const rateLimiter = new RateLimiter({ windows });
      const { audience, mock } = createFixture({}, { rateLimiter });
      const options = option === "isCurrent" ? { isCurrent: hang } : { checkpoint };
      const run = audience.bulk(rows(20), upsert, options);
      void run.then(undefined, () => {});
      await passUntil(() => hanging === 10);

      const page = audience.v1.contactGroups.get("mock-list");
      await vi.advanceTimersByTimeAsync(1_000);

      await expect(page).resolves.toMatchObject({ id: "mock-list" });
      expect(mock.requests.map(({ operation }) => operation)).toEqual(["v1.contactGroups.get"]);
      const isIdle = ({ inFlight, queued }: ReturnType<RateLimiter["usage"]>) => inFlight + queued === 0;
      await passUntil(() => isIdle(rateLimiter.usage()));
    },
  );

  it("A row whose slow isCurrent was followed by a long wait asks it again, and the key function too", async () => {
    const keys: string[] = [];
    let key = "mock-api-key-not-a-secret";
    const apiKey = () => {
      keys.push(key);
      return key;
    };
    const rateLimiter = new RateLimiter({ windows: [{ limit: 10, intervalMs: 1_000 }] });
    const faults = [{ kind: "429", operation: "v1.contactGroups.get", times: 1, retryAfter: 4 } as const];
    const { audience, mock } = createFixture({ faults }, { rateLimiter, apiKey });
    let isAdaCurrent = true;
    const isCurrent = async () => {
      await new Promise((resolve) => setTimeout(resolve, 400));
      return isAdaCurrent;
    };
    const run = collectRun(audience.bulk(rows(1), upsert, { isCurrent }));
    await vi.advanceTimersByTimeAsync(100);
    void audience.v1.contactGroups.get("mock-list", { maxRetries: 0 }).catch(() => {});
    await vi.advanceTimersByTimeAsync(1_000);

    isAdaCurrent = false;
    key = "the-next-key";
    const { results } = await passUntilSettled(run);

    expect(results.map(({ status }) => status)).toEqual(["superseded"]);
    expect(keys.at(-1)).toBe("the-next-key");
    expect(mock.requests.map(({ operation }) => operation)).toEqual(["v1.contactGroups.get"]);
  });
});
