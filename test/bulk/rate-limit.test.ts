import { type BulkProgress, RateLimiter, type WriteOptions, write } from "audience-sdk";
import type { MockFault } from "audience-sdk/mock";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import {
  type Row,
  collectRun,
  createFixture,
  key,
  passUntil,
  passUntilSettled,
  row,
  rows,
  upsert,
  useFakeTime,
} from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

describe("A row that meets a 429", () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] }));

  const often = (times: number): MockFault => ({ kind: "429", times });
  it.each<[string, MockFault[], WriteOptions, count: number, requests: number]>([
    ["however often it is refused", [often(12)], {}, 3, 15],
    ["although its write has maxRetries 0", [often(7)], { maxRetries: 0 }, 1, 8],
    ["using up no retry of other failures", [often(6), { kind: "500-before", times: 4 }], {}, 1, 11],
  ])("goes back into the queue, %s", async (_, faults, options, count, requests) => {
    const { audience, mock } = createFixture({ faults });
    const toWrite = (item: Row) => write.v1.customers.upsert(item, options);

    const summary = await passUntilSettled(audience.bulk(rows(count), toWrite, { concurrency: 1 }).summary());

    expect(summary).toMatchObject({ total: count, succeeded: count });
    expect(mock.requests).toHaveLength(requests);
  });

  it.each<[string, retryAfter: number | false, object, waitMs: number]>([
    ["as long as Retry-After says, up to an hour", 3_600, { rateLimiter: new RateLimiter() }, 3_600_000],
    ["as long without a limiter", 3_600, {}, 3_600_000],
    ["a second where the response has no Retry-After", false, {}, 1_000],
  ])("waits %s", async (_, retryAfter, clientOptions, waitMs) => {
    const { audience, mock } = createFixture(
      { faults: [{ kind: "429", times: 1, retryAfter }] },
      clientOptions,
    );

    const summary = audience.bulk(rows(1), upsert).summary();
    await vi.advanceTimersByTimeAsync(waitMs - 1);
    expect(mock.requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1_000);

    expect(await summary).toMatchObject({ succeeded: 1 });
    expect(mock.requests).toHaveLength(2);
  });

  it("a wait over an hour ends the run at once, and the row stays unrecorded", async () => {
    vi.useRealTimers();
    const { audience, mock } = createFixture({
      faults: [{ kind: "429", times: 1, after: 1, retryAfter: 3_601 }],
    });
    const checkpoint = new MemoryCheckpoint();

    const { results, error } = await collectRun(
      audience.bulk(rows(3), upsert, { key, checkpoint, concurrency: 1, stopWhen: () => false }),
    );

    expect(error).toMatchObject({ code: "rate_limit", outcome: "not-applied", retryAfterMs: 3_601_000 });
    expect(results.map(({ status }) => status)).toEqual(["succeeded", "failed"]);
    expect(mock.requests).toHaveLength(2);
    const next = await collectRun(audience.bulk(rows(3), upsert, { key, checkpoint, concurrency: 1 }));
    expect(next.results.map(({ status }) => status)).toEqual(["skipped", "succeeded", "succeeded"]);
  });

  it("does not send the row's earlier writes again", async () => {
    const { audience, mock } = createFixture({
      faults: [{ kind: "429", operation: "v1.events.send", times: 9 }],
    });
    const toWrites = (item: Row) => [
      write.v1.customers.upsert({ ...item, double_opt_in: true }),
      write.v1.events.send({ eventName: "imported", contact: { email: item.email } }),
    ];

    const summary = await passUntilSettled(audience.bulk(rows(1), toWrites).summary());

    expect(summary).toMatchObject({ succeeded: 1 });
    expect(mock.requests.filter(({ operation }) => operation === "v1.customers.upsert")).toHaveLength(1);
    const ids = mock.requests.flatMap(({ body, operation }) =>
      operation === "v1.events.send" ? [(body as { uniqueIdentifier: string }).uniqueIdentifier] : [],
    );
    expect([ids.length, new Set(ids).size]).toEqual([10, 1]);
  });
});

it("A row, and the look at it, wait while the queue is full, and leave when there is room", async () => {
  const { audience, mock } = createFixture(
    {},
    { rateLimiter: { windows: [{ limit: 2, intervalMs: 50 }], maxQueued: 0 } },
  );
  const options = { key, checkpoint: new MemoryCheckpoint() };
  await audience.bulk(rows(3), upsert, options);
  const changed = rows(3).map((item) => ({ ...item, city: "Bern" }));

  const summary = await audience.bulk(changed, upsert, options);

  expect(summary).toMatchObject({ succeeded: 3 });
  expect(mock.requests.filter(({ method }) => method === "GET")).toHaveLength(3);
});

/** A client of the mock in virtual time. */
function start(reserve?: number) {
  const time = new VirtualTime();
  const windows = [{ limit: 10, intervalMs: 60_000 }];
  const rateLimiter = new RateLimiter({ clock: time.now, windows, reserve });
  const lines: string[] = [];
  const throttled: (number | undefined)[] = [];
  const { audience } = createFixture(
    {},
    {
      rateLimiter,
      logger: { warn: (line) => void lines.push(line.replace(/.*\(request [^)]*\) /, "")) },
      hooks: { onThrottle: ({ waitMs }) => void throttled.push(waitMs && Math.round(waitMs / 1_000)) },
    },
  );
  return { time, audience, lines, throttled };
}

describe("A run", () => {
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

  it.each([
    [undefined, 11],
    [0, 9],
  ])("estimates its end with the reserve, of its progress as of its check: %s", async (reserve, minutes) => {
    const etas: number[] = [];
    const { time, audience } = start(reserve);
    const onProgress = ({ done, etaMs }: BulkProgress) => void (done === 1 && etas.push(etaMs!));
    etas.push((await audience.bulk.check(rows(100), upsert)).estimateMs);
    await time.run(() => void audience.bulk(rows(100), upsert, { onProgress }).summary());
    expect(etas.map((etaMs) => Math.round(etaMs / 60_000))).toEqual([minutes, minutes]);
  });
});

describe("A row that is prepared", () => {
  beforeEach(useFakeTime);

  const windows = [
    { limit: 10, intervalMs: 1_000 },
    { limit: 100, intervalMs: 60_000 },
  ];

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

  // Its row is sent later than the call, and goes by the newer word.
  it("A row that waits for its permit holds up no call about the same person", async () => {
    const rateLimiter = new RateLimiter({ windows: [{ limit: 4, intervalMs: 60_000 }] });
    const { audience, mock } = createFixture({}, { rateLimiter });
    const run = collectRun(audience.bulk(rows(5), upsert));
    await passUntil(() => mock.requests.length === 3);

    const optOut = { ...row(4), email_opt_in: "UNSUBSCRIBED" } as const;
    const call = await passUntilSettled(
      audience.v1.customers.upsert(optOut, { maxWaitMs: 2_000 }).withResponse(),
    );
    const { results } = await passUntilSettled(run);

    expect(call.queuedMs).toBeLessThan(1_000);
    expect(results.find(({ index }) => index === 4)).toMatchObject({
      status: "succeeded",
      kept: { email: "process" },
    });
    const words = mock.requests.map(({ body }) => body as Row).filter(({ email }) => email === row(4).email);
    expect(words).toEqual([optOut, optOut]);
  });

  it("A row whose slow isCurrent was followed by a long wait asks it again, and the key function too", async () => {
    const keys: string[] = [];
    let apiKeyNow = "mock-api-key-not-a-secret";
    const apiKey = () => {
      keys.push(apiKeyNow);
      return apiKeyNow;
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
    apiKeyNow = "the-next-key";
    const { results } = await passUntilSettled(run);

    expect(results.map(({ status }) => status)).toEqual(["superseded"]);
    expect(keys.at(-1)).toBe("the-next-key");
    expect(mock.requests.map(({ operation }) => operation)).toEqual(["v1.contactGroups.get"]);
  });
});
