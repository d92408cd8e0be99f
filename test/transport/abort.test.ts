import { getEventListeners } from "node:events";
import { AudienceClient, RateLimiter } from "audience-sdk";
import { afterEach, describe, expect, it, vi } from "vitest";
import { eventually } from "../eventually.ts";
import { failureOf } from "./failure.ts";
import { contact, mockedClient, serve } from "./fixture.ts";

const other = { ...contact, email: "grace@example.com" };
const reason = new Error("the user left");

afterEach(() => void vi.useRealTimers());

/** Aborts once `isThere` returns true, and returns whether the call has rejected by the next turn of the event loop. */
async function abortedWhen(
  isThere: () => boolean,
  call: (signal: AbortSignal) => Promise<unknown>,
): Promise<{ error: Awaited<ReturnType<typeof failureOf>>; isAtOnce: boolean }> {
  const stop = new AbortController();
  const failure = failureOf(call(stop.signal));
  await eventually(() => expect(isThere()).toBe(true));
  stop.abort(reason);
  const aTurn = new Promise<"a turn later">((resolve) => setImmediate(() => resolve("a turn later")));
  const first = await Promise.race([failure, aTurn]);
  return { error: await failure, isAtOnce: first !== "a turn later" };
}

const upsertBy = (audience: AudienceClient) => (signal: AbortSignal) =>
  audience.v1.customers.upsert(contact, { signal });

describe("An aborted call rejects at once, with the signal's reason as its cause, wherever it is", () => {
  function expectAbort(
    { error, isAtOnce }: Awaited<ReturnType<typeof abortedWhen>>,
    outcome: string,
    attempts: number,
  ): void {
    expect(error).toMatchObject({ name: "AbortError", code: "aborted", outcome, request: { attempts } });
    expect(error.cause).toBe(reason);
    expect(isAtOnce).toBe(true);
  }

  it("in a hook, before the request leaves: nothing is sent", async () => {
    const controller = new AbortController();
    const hooks = { onRequest: () => controller.abort(reason) };
    const { mock, audience } = mockedClient({}, { hooks });

    const error = await failureOf(audience.v1.customers.upsert(contact, { signal: controller.signal }));

    expectAbort({ error, isAtOnce: true }, "not-sent", 1);
    expect(mock.requests).toEqual([]);
  });

  it("in the queue: nothing is sent, no budget is spent, and the others go on", async () => {
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 300 }] });
    const { mock, audience } = mockedClient({}, { rateLimiter });
    await audience.v1.customers.list();

    const aborted = await abortedWhen(
      () => rateLimiter.usage().queued === 2,
      (signal) => {
        const call = audience.v1.customers.upsert(contact, { signal });
        void audience.v1.customers.upsert(other);
        return call;
      },
    );

    expectAbort(aborted, "not-sent", 0);
    expect(rateLimiter.usage().queued).toBe(1);
    await eventually(() => expect(mock.requests.map(({ body }) => body)).toEqual([undefined, other]));
  });

  it("behind an earlier write to the same contact: nothing is sent, no key is asked for, and later writes keep their order", async () => {
    const apiKey = vi.fn(() => "mock-api-key-not-a-secret");
    const { mock, audience } = mockedClient({ latencyMs: 60 }, { apiKey });
    const first = audience.v1.customers.upsert({ ...contact, first_name: "1" });
    let third: Promise<unknown> = Promise.resolve();

    const aborted = await abortedWhen(
      () => mock.requests.length === 1,
      (signal) => {
        const call = audience.v1.customers.upsert({ ...contact, first_name: "2" }, { signal });
        third = audience.v1.customers.upsert({ ...contact, first_name: "3" });
        return call;
      },
    );

    expectAbort(aborted, "not-sent", 0);
    await Promise.all([first, third]);
    expect(mock.requests.map(({ body }) => (body as { first_name: string }).first_name)).toEqual(["1", "3"]);
    expect(apiKey).toHaveBeenCalledTimes(2);
  });

  it("in the key function: nothing is sent, and the permit is available again", async () => {
    const rateLimiter = new RateLimiter();
    const apiKey = vi.fn(() => new Promise<string>(() => {}));
    const { mock, audience } = mockedClient({}, { apiKey, rateLimiter });

    const aborted = await abortedWhen(() => apiKey.mock.calls.length === 1, upsertBy(audience));

    expectAbort(aborted, "not-sent", 0);
    expect(mock.requests).toEqual([]);
    await eventually(() =>
      expect(rateLimiter.usage()).toMatchObject({
        inFlight: 0,
        windows: [{ used: 0 }, { used: 0 }, { used: 0 }],
      }),
    );
  });

  it("in flight and in the body: the outcome of a write is unknown, that of a GET is not-applied", async () => {
    const { options, received } = await serve((outgoing, { path }) => {
      if (path.endsWith("body"))
        outgoing.writeHead(200, { "content-type": "application/json" }).write('{"data":');
    });
    const audience = new AudienceClient(options);

    const flight = await abortedWhen(() => received.length === 1, upsertBy(audience));
    expectAbort(flight, "unknown", 1);
    for (const [at, id] of ["flight", "body"].entries()) {
      const read = await abortedWhen(
        () => received.length === at + 2,
        (signal) => audience.v1.customers.get(id, { signal }),
      );
      expectAbort(read, "not-applied", 1);
    }
  });

  it("in the backoff: no timer is left behind, and no other call is delayed", async () => {
    vi.useFakeTimers();
    const { mock, audience } = mockedClient({ faults: [{ kind: "reset-before", times: 1 }] });
    const stop = new AbortController();
    const failure = failureOf(audience.v1.customers.upsert(contact, { signal: stop.signal }));
    await vi.advanceTimersByTimeAsync(0);

    stop.abort(reason);

    expectAbort({ error: await failure, isAtOnce: true }, "unknown", 1);
    expect(vi.getTimerCount()).toBe(0);
    await audience.v1.customers.upsert(contact);
    expect(mock.requests).toHaveLength(2);
  });

  it("with a reason of any kind, and with AbortSignal.timeout", async () => {
    const { audience } = mockedClient({ faults: [{ kind: "hang" }] });

    const none = await failureOf(audience.v1.customers.get("c", { signal: AbortSignal.abort() }));
    const text = await failureOf(audience.v1.customers.get("c", { signal: AbortSignal.abort("left") }));
    const timeout = await failureOf(audience.v1.customers.get("c", { signal: AbortSignal.timeout(20) }));

    expect(none.cause).toBeInstanceOf(DOMException);
    expect(text.cause).toBe("left");
    expect(timeout).toMatchObject({ code: "aborted", cause: { name: "TimeoutError" } });
  });
});

describe("After an abort in flight", () => {
  it("in the body, the connection is closed at once, because the headers are known", async () => {
    const log: string[] = [];
    const { options } = await serve((outgoing) => {
      outgoing.writeHead(200, { "content-type": "application/json" }).write('{"data":');
      outgoing.on("close", () => log.push("cut"));
    });
    const noted = async (url: string, init: RequestInit) => {
      const response = await fetch(url, init);
      log.push("headers");
      return response;
    };
    const audience = new AudienceClient({ ...options, fetch: noted });

    await abortedWhen(
      () => log.includes("headers"),
      (signal) => audience.v1.customers.get("c", { signal }),
    );

    await eventually(() => expect(log).toEqual(["headers", "cut"]));
  });

  it("the request continues for two seconds with its permit, and a later write to the contact waits for as long", async () => {
    vi.useFakeTimers();
    const log: [string, number][] = [];
    const start = performance.now();
    const note = (what: string) => void log.push([what, Math.round(performance.now() - start)]);
    const fetch = (_url: string, { signal }: RequestInit) => {
      note("is sent");
      if (log.length > 1) return Promise.resolve(Response.json({ data: { id: "c-1" } }, { status: 201 }));
      return new Promise<Response>((_, reject) => {
        signal?.addEventListener("abort", () => {
          note("is cut");
          reject(signal.reason);
        });
      });
    };
    const rateLimiter = new RateLimiter();
    const { audience } = mockedClient({}, { fetch, rateLimiter });
    const stop = new AbortController();
    const aborted = failureOf(audience.v1.customers.upsert(contact, { signal: stop.signal }));
    await vi.advanceTimersByTimeAsync(100);
    stop.abort(reason);
    const later = audience.v1.customers.upsert({ ...contact, email_opt_in: "UNSUBSCRIBED" });
    note(`rejects with ${(await aborted).code}`);
    expect(rateLimiter.usage().inFlight).toBe(1);

    await vi.advanceTimersByTimeAsync(5_000);

    expect((await later).id).toBe("c-1");
    expect(log).toEqual([
      ["is sent", 0],
      ["rejects with aborted", 100],
      ["is cut", 2_100],
      ["is sent", 2_100],
    ]);
    expect(rateLimiter.usage().inFlight).toBe(0);
  });

  it("the call is never retried, and onRetry is not called", async () => {
    const onRetry = vi.fn();
    const faults = [{ kind: "500-before" } as const];
    const { mock, audience } = mockedClient({ latencyMs: 40, faults }, { hooks: { onRetry } });

    await abortedWhen(() => mock.requests.length === 1, upsertBy(audience));
    await eventually(() => expect(mock.requests[0]?.status).toBe(500));
    await new Promise((resolve) => setTimeout(resolve, 700));

    expect(mock.requests).toHaveLength(1);
    expect(onRetry).not.toHaveBeenCalled();
  });
});

it("a signal has one listener for any number of calls, as Node warns of a leak from the eleventh on", async () => {
  const { v1 } = mockedClient({ faults: [{ kind: "hang" }] });
  const controller = new AbortController();
  const { signal } = controller;
  const calls = Array.from({ length: 100 }, (_, call) => failureOf(v1.customers.get(`c${call}`, { signal })));
  expect(getEventListeners(signal, "abort")).toHaveLength(1);

  controller.abort("the user left");

  const errors = await Promise.all(calls);
  expect(new Set(errors.map(({ code, cause }) => `${code}: ${String(cause)}`))).toEqual(
    new Set(["aborted: the user left"]),
  );
});

it("a hundred calls leave no listener on a signal that lives on", async () => {
  const { v1 } = mockedClient();
  const { signal } = new AbortController();
  for (let call = 0; call < 100; call++) {
    await v1.customers.upsert(contact, { signal });
  }
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

it("a signal that served ended calls still aborts a later one", async () => {
  const { mock, v1 } = mockedClient();
  const controller = new AbortController();
  const { signal } = controller;
  await v1.customers.upsert(contact, { signal });
  mock.addFault({ kind: "hang" });
  const call = failureOf(v1.customers.get("c", { signal }));

  controller.abort();

  expect(await call).toMatchObject({ code: "aborted" });
});
