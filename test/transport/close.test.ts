import { AudienceClient, RateLimiter, V1Client, V2Client, write } from "audience-sdk";
import { createMockService, type MockServiceOptions } from "audience-sdk/mock";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { deferred } from "../bulk/fixture.ts";
import { MemoryCheckpoint } from "../bulk/memory-checkpoint.ts";
import { eventually } from "../eventually.ts";
import { failureOf } from "./failure.ts";
import { mockedClient, useFakeTime, v2Contact, within } from "./fixture.ts";

useFakeTime();

const oneASecond = () => new RateLimiter({ windows: [{ limit: 1, intervalMs: 1_000 }] });

/** A client with one permit a second, whose first call has ended. */
async function busy(options: MockServiceOptions = {}) {
  const given = mockedClient(options, { rateLimiter: oneASecond() });
  await given.audience.v1.customers.list();
  return given;
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

    await within(5_000, audience.close({ drain: true }));
    log.push("closed");

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

    expect(late).toMatchObject({ code: "closed", outcome: "not-sent", request: { attempts: 0 } });
    await waiting;
    expect(mock.requests).toHaveLength(2);
  });

  it("lets a failed call be retried", async () => {
    const { mock, audience } = await busy();
    mock.addFault({ kind: "500-before", times: 1 });
    const call = audience.v1.customers.upsert(contact("a")).withResponse();

    await within(10_000, audience.close({ drain: true }));

    expect(await call).toMatchObject({ attempts: 2 });
  });

  it("rejects what still waits after timeoutMs, and lets requests in flight end", async () => {
    const { mock, audience } = await busy();
    mock.addFault({ kind: "latency", delayMs: 2_000 });
    const calls = [audience.v1.customers.upsert(contact("a")), audience.v1.customers.upsert(contact("b"))];
    const ends = Promise.allSettled(calls);

    await within(6_000, audience.close({ drain: true, timeoutMs: 1_500 }));

    expect(await ends).toMatchObject([
      { status: "fulfilled" },
      { status: "rejected", reason: { code: "closed", outcome: "not-sent" } },
    ]);
    expect(mock.requests).toHaveLength(2);
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

it("close() in the same turn as a call that does not wait lets it be sent and end", async () => {
  const { mock, audience } = mockedClient({}, { rateLimiter: new RateLimiter() });

  const sent = audience.v1.customers.upsert(contact("ada"));
  await audience.close();

  expect(await sent).toMatchObject({ attributes: contact("ada") });
  expect(mock.organization("mock-organization").contacts).toHaveLength(1);
});

it.each([{}, { drain: true }])(
  "close() after the abort of a call resolves, with the options %j, when its request has ended too, and its permit is released",
  async (options) => {
    const rateLimiter = new RateLimiter();
    const { mock, audience } = mockedClient({ latencyMs: 60 }, { rateLimiter });
    const stop = new AbortController();
    const call = failureOf(audience.v1.customers.upsert(contact("a"), { signal: stop.signal }));
    await vi.advanceTimersByTimeAsync(40);
    expect(mock.requests).toHaveLength(1);

    stop.abort();
    const log: string[] = [];
    const closed = audience.close(options).then(() => log.push("closed"));
    await vi.advanceTimersByTimeAsync(10);
    expect(log).toEqual([]);
    await vi.advanceTimersByTimeAsync(90);
    await closed;

    expect(await call).toMatchObject({ code: "aborted", outcome: "unknown" });
    expect(mock.requests).toMatchObject([{ status: 201, applied: true }]);
    expect(rateLimiter.usage().inFlight).toBe(0);
  },
);

describe("close() rejects what waits for something else than a permit, and it is never sent:", () => {
  const closed = { code: "closed", message: "The client was closed." };

  it("a call that waits for its key", async () => {
    const rateLimiter = new RateLimiter();
    const asked = deferred<string>();
    const { mock, audience } = mockedClient({}, { rateLimiter, apiKey: () => asked.promise });

    const call = failureOf(audience.v1.customers.get("ada@example.com"));
    await audience.close();

    expect(await call).toMatchObject({ ...closed, outcome: "not-sent" });
    asked.resolve("mock-key");
    await Promise.resolve();
    expect(mock.requests).toEqual([]);
    expect(rateLimiter.usage().inFlight).toBe(0);
  });

  it("a call that waits for a changed key after a 401", async () => {
    const mock = createMockService();
    const second = deferred<string>();
    let asked = 0;
    const audience = new AudienceClient({
      ...mock.clientOptions,
      apiKey: () => {
        if (asked++ === 0) return "a-key-that-was-rotated-away";
        second.resolve(mock.clientOptions.apiKey);
        // The client is closed while the key function is pending.
        void audience.close();
        return second.promise;
      },
    });

    const failure = await failureOf(audience.v1.customers.get("ada@example.com"));

    expect(failure).toMatchObject({ ...closed, outcome: "not-applied" });
    expect(mock.requests).toHaveLength(1);
  });

  it("a row that waits for its checkpoint, which has no result and no record then", async () => {
    // The hash of a row needs real time.
    vi.useRealTimers();
    const rateLimiter = new RateLimiter();
    const { mock, audience } = mockedClient({}, { rateLimiter });
    const begun = deferred();
    const recorded = deferred();
    class SlowCheckpoint extends MemoryCheckpoint {
      override async put(name: string, line: string, flush: boolean) {
        if (name.startsWith("row:")) {
          begun.resolve();
          await recorded.promise;
        }
        await super.put(name, line, flush);
      }
    }
    const options = { checkpoint: new SlowCheckpoint(), key: (email: string) => email };
    const upsert = (email: string) => write.v1.customers.upsert({ email });

    const run = audience.bulk(["ada@example.com"], upsert, options);
    const failure = failureOf(run[Symbol.asyncIterator]().next());
    await begun.promise;
    const isClosed = audience.close();
    recorded.resolve();
    await isClosed;

    expect(await failure).toMatchObject({ ...closed, outcome: "not-sent" });
    expect(mock.requests).toEqual([]);
    expect(rateLimiter.usage().inFlight).toBe(0);
    const next = new AudienceClient(mock.clientOptions);
    expect(await next.bulk(["ada@example.com"], upsert, options)).toMatchObject({ succeeded: 1 });
  });
});

describe("close()", () => {
  beforeEach(() => void vi.useRealTimers());

  it("rejects calls in the queue, behind other writes to a contact and in backoff, and resolves when calls in flight have ended", async () => {
    const { mock, audience } = mockedClient({ latencyMs: 50 }, { rateLimiter: oneASecond() });
    const { mock: failing, audience: retrying } = mockedClient({ faults: [{ kind: "500-before" }] });
    const inFlight = audience.v1.customers.upsert(contact("ada"));
    const behindIt = failureOf(audience.v1.customers.upsert(contact("ada")));
    const queued = failureOf(audience.v1.customers.get("c"));
    const inBackoff = failureOf(retrying.v1.customers.upsert(contact("ada")));
    await eventually(() => expect(failing.requests[0]?.status).toBe(500));

    await Promise.all([audience.close(), retrying.close()]);

    expect(mock.requests).toMatchObject([{ status: 201 }]);
    expect(await Promise.all([behindIt, queued, inBackoff])).toMatchObject([
      { code: "closed", outcome: "not-sent", message: "The client was closed." },
      { code: "closed", outcome: "not-sent" },
      { code: "closed", outcome: "unknown" },
    ]);
    expect((await inFlight).id).toBeDefined();
    expect(failing.requests).toHaveLength(1);
  });

  it("does not retry calls in flight that fail afterwards", async () => {
    const { mock, audience } = mockedClient({ latencyMs: 40, faults: [{ kind: "500-before" }] });
    const failure = failureOf(audience.v1.customers.upsert(contact("ada")));

    await audience.close();

    expect(await failure).toMatchObject({ status: 500 });
    expect(mock.requests).toHaveLength(1);
  });

  it("makes later calls of all views and families reject, and can be called again", async () => {
    const { mock, audience, v1, v2 } = mockedClient();
    const view = audience.withOptions({ maxRetries: 0 });

    await audience.close();
    await audience.close();

    const errors = await Promise.all([
      failureOf(v1.customers.upsert(contact("ada"))),
      failureOf(view.v1.customers.get("c")),
      failureOf(v2.contacts.upsert(v2Contact)),
      failureOf(v2.lists.list().then(String)),
    ]);
    expect(errors.map((error) => [error.code, error.outcome, error.message])).toEqual(
      errors.map(() => ["closed", "not-sent", "The client was closed."]),
    );
    expect(mock.requests).toEqual([]);
  });

  it("does not affect other clients on the same limiter", async () => {
    const mock = createMockService();
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 100 }] });
    const [one, other] = [0, 1].map(() => new AudienceClient({ ...mock.clientOptions, rateLimiter }));
    await one?.v1.customers.list();
    const theirs = other?.v1.customers.list().then(({ items }) => items);

    await one?.close();

    expect(await theirs).toEqual([]);
  });

  it.each([AudienceClient, V1Client, V2Client])("is called by `await using` (%o)", async (Client) => {
    let escaped: AudienceClient | V1Client | V2Client | undefined;
    {
      await using client = new Client(createMockService().clientOptions);
      escaped = client;
    }

    const listed =
      "lists" in escaped ? escaped.lists : "v1" in escaped ? escaped.v1.customers : escaped.customers;
    const call: PromiseLike<unknown> = listed.list();
    expect(await failureOf(call.then(String))).toMatchObject({ code: "closed" });
  });
});
