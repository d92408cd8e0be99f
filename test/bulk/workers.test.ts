import { afterEach, describe, expect, it, vi } from "vitest";
import { createFixture, deferred, flushEventLoop, rows, until, type Row } from "./fixture.ts";

afterEach(() => vi.useRealTimers());

const hourMs = 3_600_000;
const setBackAnHour = () => void vi.setSystemTime(Date.now() - hourMs);

/** Timers fire where a test advances them; the rows wait for none, as no turn of the event loop takes any time. */
function fakeTimers(...clocks: "Date"[]): void {
  vi.useFakeTimers({ toFake: [...clocks, "setTimeout", "clearTimeout"] });
  vi.spyOn(performance, "now").mockReturnValue(0);
}

describe("A system clock that is set back an hour holds up no run", () => {
  it("before the run begins", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { audience, upsert, emails } = createFixture();
    const run = audience.bulk(rows(30), upsert);

    setBackAnHour();
    await run;

    expect(emails()).toHaveLength(30);
  });

  it("in the turn in which it begins", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { audience, upsert, emails } = createFixture();

    const summary = audience.bulk(rows(30), upsert).summary();
    setBackAnHour();
    await summary;

    expect(emails()).toHaveLength(30);
  });

  it.each([1, 2, 20])("after row %i", async (count) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { audience, upsert, emails } = createFixture();
    let done = 0;

    for await (const _ of audience.bulk(rows(30), upsert)) if (++done === count) setBackAnHour();

    expect(emails()).toHaveLength(30);
  });

  it("and leaves no timer of an hour behind, which would keep the process alive", async () => {
    fakeTimers("Date");
    const { audience } = createFixture();
    const gate = deferred();

    const summary = audience.bulk(rows(3), () => gate.promise).summary();
    await flushEventLoop();
    setBackAnHour();
    // The second worker has its turn now.
    await vi.advanceTimersByTimeAsync(10);
    const waiting = vi.getTimerCount();
    gate.resolve();

    expect(await summary).toMatchObject({ succeeded: 3 });
    await vi.advanceTimersByTimeAsync(10);
    expect({ waiting, left: vi.getTimerCount() }).toEqual({ waiting: 1, left: 0 });
  });
});

it("A run ends under fake timers, though no time passes", async () => {
  vi.useFakeTimers();
  const { audience, upsert, emails } = createFixture();

  const summary = await audience.bulk(rows(30), upsert);

  expect(summary).toMatchObject({ total: 30, succeeded: 30 });
  expect(emails()).toHaveLength(30);
});

describe("Under way", () => {
  /** Calls that wait, each until it is resolved. */
  function waitingCalls() {
    const calls: (() => void)[] = [];
    const call = async () => {
      const { promise, resolve } = deferred();
      calls.push(resolve);
      await promise;
    };
    return { calls, call };
  }

  it("are as many rows as `concurrency` says, and a row that ends is replaced at once", async () => {
    fakeTimers();
    const { audience } = createFixture();
    const { calls, call } = waitingCalls();
    const begun: number[] = [];

    const run = audience.bulk(rows(9), call, { concurrency: 6 }).summary();
    await vi.advanceTimersByTimeAsync(100);
    begun.push(calls.length);
    // No timer fires from here on.
    for (const end of calls) {
      end();
      await flushEventLoop();
      begun.push(calls.length);
    }

    expect(await run).toMatchObject({ succeeded: 9 });
    expect(begun).toEqual([6, 7, 8, 9, 9, 9, 9, 9, 9, 9]);
  });

  it("are all rows where `concurrency` is the largest integer", async () => {
    const { audience } = createFixture();
    const { calls, call } = waitingCalls();

    const run = audience.bulk(rows(50), call, { concurrency: Number.MAX_SAFE_INTEGER }).summary();
    await until(() => calls.length === 50);
    for (const end of calls) end();

    expect(await run).toMatchObject({ succeeded: 50 });
  });

  it("is one row at a time where `concurrency` is 1", async () => {
    const { audience } = createFixture();
    const log: string[] = [];
    const call = async ({ email }: Row) => {
      log.push(`begin ${email[4]}`);
      await flushEventLoop();
      log.push(`end ${email[4]}`);
    };

    await audience.bulk(rows(3), call, { concurrency: 1 });

    expect(log).toEqual(["begin 0", "end 0", "begin 1", "end 1", "begin 2", "end 2"]);
  });

  it("is one reading at a time, of a source that must not be asked for two rows at once", async () => {
    const { audience, upsert } = createFixture();
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
  const { audience, mock, upsert } = createFixture();

  const summary = await audience.bulk(rows(25), upsert, { concurrency: 3 });

  expect(summary).toMatchObject({ total: 25, succeeded: 25 });
  expect(new Set(mock.requests.map(({ body }) => body)).size).toBe(25);
});
