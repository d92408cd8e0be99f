import { AudienceClient, ConfigurationError, RateLimiter, V1Client, V2Client } from "audience-sdk";
import { createMockService, type MockServiceOptions } from "audience-sdk/mock";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { failureOf } from "./failure.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A client with one permit a second, whose first call has ended. */
async function busy(options: MockServiceOptions = {}) {
  const mock = createMockService(options);
  const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 1_000 }] });
  const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter });
  await audience.v1.customers.list();
  return { mock, audience };
}

const contact = (name: string) => ({ email: `${name}@example.com`, email_opt_in: "SUBSCRIBED" }) as const;

describe("close({ drain: true })", () => {
  it("sends the calls that wait, and resolves when they have ended", async () => {
    const { mock, audience } = await busy();
    const log: string[] = [];
    const calls = ["a", "b", "c"].map(async (name) => {
      await audience.v1.customers.upsert(contact(name));
      log.push(name);
    });

    const closed = audience.close({ drain: true }).then(() => log.push("closed"));
    await vi.advanceTimersByTimeAsync(5_000);
    await closed;

    await Promise.all(calls);
    expect(log).toEqual(["a", "b", "c", "closed"]);
    expect(mock.requests.filter(({ applied }) => applied)).toHaveLength(3);
  });

  it("takes no new call", async () => {
    const { mock, audience } = await busy();
    const waiting = audience.v1.customers.upsert(contact("a"));
    const closed = audience.close({ drain: true });

    const late = await failureOf(audience.v1.customers.upsert(contact("b")));
    await vi.advanceTimersByTimeAsync(2_000);
    await closed;

    expect(late).toMatchObject({ code: "closed", outcome: "not-sent" });
    await waiting;
    expect(mock.requests).toHaveLength(2);
  });

  it("lets a failed call be retried", async () => {
    const { mock, audience } = await busy();
    mock.addFault({ kind: "500-before", times: 1 });
    const call = audience.v1.customers.upsert(contact("a")).withResponse();

    const closed = audience.close({ drain: true });
    await vi.advanceTimersByTimeAsync(10_000);
    await closed;

    expect(await call).toMatchObject({ attempts: 2 });
  });

  it("rejects what still waits after timeoutMs, and lets requests in flight end", async () => {
    const { mock, audience } = await busy();
    mock.addFault({ kind: "latency", delayMs: 2_000 });
    const calls = [audience.v1.customers.upsert(contact("a")), audience.v1.customers.upsert(contact("b"))];
    const ends = Promise.allSettled(calls);

    const closed = audience.close({ drain: true, timeoutMs: 1_500 });
    await vi.advanceTimersByTimeAsync(6_000);
    await closed;

    expect(await ends).toMatchObject([
      { status: "fulfilled" },
      { status: "rejected", reason: { code: "closed", outcome: "not-sent" } },
    ]);
    expect(mock.requests).toHaveLength(2);
  });

  it("ends a run of bulk: rows that wait are not sent, and its loop rejects with a ClientClosedError", async () => {
    const { mock, audience } = await busy();
    const rows = Array.from({ length: 50 }, (_, row) => contact(`row${row}`));
    const run = audience.bulk(rows, (row, request) => audience.v1.customers.upsert(row, request));
    const summary = failureOf(run.summary());
    await vi.advanceTimersByTimeAsync(2_500);

    const closed = audience.close({ drain: true });
    await vi.advanceTimersByTimeAsync(5_000);
    await closed;

    expect(await summary).toMatchObject({ code: "closed" });
    expect(mock.requests.length).toBeLessThan(10);
  });

  it("followed by close() rejects at once what still waits", async () => {
    const { audience } = await busy();
    const waiting = failureOf(audience.v1.customers.upsert(contact("a")));

    const drained = audience.close({ drain: true });
    await audience.close();
    await drained;

    expect(await waiting).toMatchObject({ code: "closed" });
  });

  it("leaves no timer behind", async () => {
    const { audience } = await busy();
    await vi.advanceTimersByTimeAsync(2_000);

    await audience.close({ drain: true, timeoutMs: 60_000 });

    expect(vi.getTimerCount()).toBe(0);
  });
});

it.each([V1Client, V2Client])("%o alone has close with the same options", async (Client) => {
  const client = new Client(createMockService().clientOptions);

  await client.close({ drain: true, timeoutMs: 1_000 });

  const late = client instanceof V1Client ? client.customers.get("c") : client.lists.list();
  expect(await failureOf(late)).toMatchObject({ code: "closed" });
});

it.each([
  [{ drain: "yes" }, "drain must be a boolean, not a string"],
  [{ timeoutMs: 0 }, "timeoutMs must be a number of milliseconds above 0, not 0"],
  [{ timeout: 5 }, 'there is no option "timeout"; the options are drain, timeoutMs.'],
])("close(%j) rejects with a ConfigurationError, and the client stays open", async (options, message) => {
  const { audience } = await busy();

  // A caller in JavaScript can pass this.
  const error = await failureOf(audience.close(options as object));

  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error.message).toContain(message);
  const call = audience.v1.customers.upsert(contact("a"));
  await vi.advanceTimersByTimeAsync(2_000);
  await call;
});
