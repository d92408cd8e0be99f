import { afterEach, describe, expect, it, vi } from "vitest";
import { createFixture, deferred, flushEventLoop, rows, upsert } from "./fixture.ts";

afterEach(() => void vi.useRealTimers());

const setBackAnHour = () => void vi.setSystemTime(Date.now() - 3_600_000);

/** Timers fire where a test advances them; the rows wait for none, as no turn of the event loop takes any time. */
function fakeTimers(...clocks: "Date"[]): void {
  vi.useFakeTimers({ toFake: [...clocks, "setTimeout", "clearTimeout"] });
  vi.spyOn(performance, "now").mockReturnValue(0);
}

/** A client whose requests wait, each until it is let through. */
function waitingCalls() {
  const { mock, audience } = createFixture();
  const calls: (() => void)[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    const { promise, resolve } = deferred();
    calls.push(resolve);
    await promise;
    return await mock.fetch(url, init);
  };
  return { calls, audience: audience.withOptions({ fetch }) };
}

describe("A system clock that is set back an hour holds up no run", () => {
  it.each([0, 1, 2, 20])("after row %i", async (count) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { audience, emails } = createFixture();
    const run = audience.bulk(rows(30), upsert);
    let done = 0;
    if (count === 0) setBackAnHour();

    for await (const _ of run) if (++done === count) setBackAnHour();

    expect(emails()).toHaveLength(30);
  });
});

it("A run ends under fake timers, though no time passes", async () => {
  vi.useFakeTimers();
  const { audience, emails } = createFixture();

  const summary = await audience.bulk(rows(30), upsert);

  expect(summary).toMatchObject({ total: 30, succeeded: 30 });
  expect(emails()).toHaveLength(30);
});

describe("Under way", () => {
  it.each<[number, object]>([
    [6, { concurrency: 6 }],
    [10, {}],
    [1, { concurrency: 1 }],
  ])("are %i rows with %j, and a row that ends is replaced at once", async (concurrency, options) => {
    fakeTimers();
    const { calls, audience } = waitingCalls();
    const begun: number[] = [];

    const run = audience.bulk(rows(12), upsert, options).summary();
    await vi.advanceTimersByTimeAsync(100);
    begun.push(calls.length);
    // No timer fires from here on.
    for (const end of calls) {
      end();
      await flushEventLoop();
      begun.push(calls.length);
    }

    expect(await run).toMatchObject({ succeeded: 12 });
    expect(begun).toEqual(Array.from({ length: 13 }, (_, ended) => Math.min(12, ended + concurrency)));
  });

  it("is one reading at a time, of a source that must not be asked for two rows at once", async () => {
    const { audience } = createFixture();
    let [reading, most, next] = [0, 0, 0];
    const items = rows(30);
    const source = {
      [Symbol.asyncIterator]: () => ({
        async next() {
          most = Math.max(most, ++reading);
          await flushEventLoop();
          reading--;
          const value = items[next++];
          return value ? { done: false as const, value } : { done: true as const, value: undefined };
        },
      }),
    };

    expect(await audience.bulk(source, upsert)).toMatchObject({ total: 30, succeeded: 30 });
    expect({ most, next }).toEqual({ most: 1, next: 31 });
  });
});

it("A run ends while a test makes Math.random a constant", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  const { audience, mock } = createFixture();

  const summary = await audience.bulk(rows(25), upsert, { concurrency: 3 });

  expect(summary).toMatchObject({ total: 25, succeeded: 25 });
  expect(new Set(mock.requests.map(({ body }) => body)).size).toBe(25);
});
