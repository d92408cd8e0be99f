import { AudienceClient, type ClientOptions, RateLimiter } from "audience-sdk";
import { createMockService, type MockFaultKind } from "audience-sdk/mock";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../eventually.ts";
import { failureOf } from "./failure.ts";
import { contact, mockedClient } from "./fixture.ts";

const event = { eventName: "order placed", contact: { email: "ada@example.com" } };

const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);

beforeEach(() => {
  unhandled.length = 0;
  process.on("unhandledRejection", note);
});
afterEach(() => void process.off("unhandledRejection", note));

/** Long enough for Node to report an unhandled rejection. */
const aTurn = () => new Promise((resolve) => setTimeout(resolve, 10));

describe("A call", () => {
  it("returns a real Promise, and starts at once, before it is awaited", async () => {
    const { mock, v1 } = mockedClient();

    const call = v1.customers.upsert(contact);
    await eventually(() => expect(mock.requests).toHaveLength(1));

    expect(call).toBeInstanceOf(Promise);
    expect(Object.prototype.toString.call(call)).toBe("[object Promise]");
    await call;
  });

  it("sends one request, whatever the use of its promise", async () => {
    const { mock, v1 } = mockedClient();

    const call = v1.customers.upsert(contact);
    const [plain, whole, again, then, all] = await Promise.all([
      call,
      call.withResponse(),
      call.withResponse(),
      call.then(({ id }) => id),
      call.finally(() => undefined),
    ]);

    expect(mock.requests).toHaveLength(1);
    expect(whole.data).toBe(plain);
    expect(again.data).toBe(plain);
    expect(then).toBe(plain.id);
    expect(all).toBe(plain);
  });

  it("describes its response: status, headers, url, attempts, and the time in the queue", async () => {
    const mock = createMockService();
    const fetch = async (url: string, init: RequestInit) => {
      const response = await mock.fetch(url, init);
      response.headers.set("x-trace", "t-1");
      return response;
    };
    const { v1, v2 } = new AudienceClient({ ...mock.clientOptions, fetch });

    const { response, attempts, queuedMs, data } = await v1.customers.upsert(contact).withResponse();
    const sent = await v1.events.send(event).withResponse();
    const list = await v2.lists.list();

    expect(response).toEqual({
      status: 201,
      headers: expect.any(Headers),
      url: "https://audience-mock.example/api/v1/customer/create",
    });
    expect(response.headers.get("x-trace")).toBe("t-1");
    expect(attempts).toBe(1);
    expect(queuedMs).toBeGreaterThanOrEqual(0);
    expect(data.type).toBe("profile");
    expect(sent.data.uniqueIdentifier).toMatch(/^[0-9a-f-]{36}$/);
    expect(list.items).toHaveLength(1);
  });
});

describe("A call that fails leaves no unhandled rejection", () => {
  const failing = () => mockedClient().v1.customers.get("nobody");
  const both = (...calls: PromiseLike<unknown>[]) => Promise.all(calls.map(failureOf));

  it.each<[string, () => Promise<unknown>]>([
    ["awaited", async () => failureOf(failing())],
    ["by its response alone", async () => failureOf(failing().withResponse())],
    ["by its response twice", async (call = failing()) => both(call.withResponse(), call.withResponse())],
    ["by both", async (call = failing()) => both(call, call.withResponse())],
  ])("%s", async (_, use) => {
    await use();
    await aTurn();

    expect(unhandled).toEqual([]);
  });

  it("of a logger or a hook neither, whose promise rejects, of this realm or another", async () => {
    const rejects: () => unknown = async () => Promise.reject(new Error("disk full"));
    // A promise of another realm is no instance of this realm's Promise.
    const thenable = () => ({
      then: (_: unknown, reject: (reason: unknown) => void) => reject(new Error("gone")),
    });
    const logger = { debug: rejects, info: rejects, warn: rejects, error: rejects };
    const hooks = { onRequest: rejects, onResponse: thenable };
    const { mock, v1 } = mockedClient({}, { logger, logLevel: "debug", hooks });

    await v1.customers.upsert(contact);
    await aTurn();

    expect(mock.requests).toHaveLength(1);
    expect(unhandled).toEqual([]);
  });
});

describe("A method that is called without its object works as with it", () => {
  const { mock, audience, v1, v2 } = mockedClient();
  const cycle: Record<string, unknown> = { ...event };
  cycle["self"] = cycle;

  it.each([
    ["v1.customers.upsert", v1.customers.upsert],
    ["v1.customers.get", v1.customers.get],
    ["v1.contactGroups.get", v1.contactGroups.get],
    ["v1.contactGroups.addContact", v1.contactGroups.addContact],
    ["v1.events.send", v1.events.send],
    ["v2.contacts.upsert", v2.contacts.upsert],
    ["v1.customers.list", v1.customers.list],
    ["v1.contactGroups.list", v1.contactGroups.list],
    ["v2.lists.list", v2.lists.list],
    ["send", audience.send],
  ])("%s: an invalid call rejects, and does not throw", async (_name, call) => {
    const method = call as (...given: unknown[]) => PromiseLike<unknown>; // Without types, as JavaScript calls it.

    for (const given of [1, null, Symbol("id"), 1n, cycle]) {
      // It throws in this turn, or rejects.
      const called = method(given, given, given);
      await expect(called).rejects.toMatchObject({ outcome: "not-sent" });
    }
    expect(mock.requests).toEqual([]);
  });

  it("a valid call is sent", async () => {
    const { upsert, get } = v1.customers;

    const { id } = await upsert(contact);

    await expect(get(id)).resolves.toMatchObject({ id, attributes: { email: contact.email } });
  });
});

/** A function of the user that awaits a call. The tests look for its name. */
async function importCustomers(call: () => PromiseLike<unknown>): Promise<unknown> {
  return await call();
}

/** The stack of the error, after the user's function has awaited something else, so that only an async stack shows it. */
async function stackOf(call: () => PromiseLike<unknown>): Promise<string> {
  const { stack } = await failureOf(
    importCustomers(async () => {
      await Promise.resolve();
      return await call();
    }),
  );
  return stack ?? "";
}

const setting = (fault?: MockFaultKind, options: ClientOptions = {}) =>
  mockedClient(fault && { faults: [{ kind: fault }] }, { maxRetries: 0, ...options });

describe("The stack of an error shows the line of the user's code that made the call", () => {
  it.each<[string, () => PromiseLike<unknown>]>([
    ["of invalid input", () => setting().v1.customers.upsert({ email: "nobody" })],
    [
      "of an error status, after retries",
      () => setting("500-before").v1.customers.get("c", { maxRetries: 1 }),
    ],
    ["of an abort", () => setting("hang").v1.customers.upsert(contact, { signal: AbortSignal.timeout(20) })],
    ["of a list's items", () => firstOf(setting("500-before").v1.customers.list())],
  ])("%s", async (_what, call) => {
    expect(await stackOf(call)).toContain("importCustomers");
  });

  it("also where nobody awaits it yet when it fails", async () => {
    const { v1 } = setting();
    function sendLater(): Promise<unknown> {
      return v1.customers.get("nobody");
    }
    const error = await new Promise<Error>((resolve) => void sendLater().catch(resolve));

    expect(error.stack).toMatch(/\n +at sendLater .*promise\.test\.ts/);
  });

  it("but for a call beyond `maxQueued`, which has none: of a flood it would be half of the cost", async () => {
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 60_000 }], maxQueued: 1 });
    const { audience, v1 } = setting(undefined, { rateLimiter });
    onTestFinished(() => audience.close());
    await v1.customers.list();
    const waiting = failureOf(v1.customers.get("c"));
    await eventually(() => expect(rateLimiter.usage().queued).toBe(1));

    const calls = [
      () => v1.customers.get("c"),
      () => v1.customers.list(),
      () => v1.customers.list().toArray(),
      () => firstOf(v1.customers.list()),
    ];
    for (const call of calls) expect(await stackOf(call)).toMatch(/^RateLimitWaitError: No permit. .+$/);
    expect(await stackOf(() => v1.customers.list({}, { maxWaitMs: 0, priority: 0 }))).toContain(
      "importCustomers",
    );
    expect(Error.stackTraceLimit).toBeGreaterThan(0);
    await Promise.all([audience.close(), waiting]);
  });
});

async function firstOf(items: AsyncIterable<unknown>): Promise<unknown> {
  for await (const item of items) return item;
  return undefined;
}
