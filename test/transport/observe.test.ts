import { subscribe, tracingChannel, unsubscribe } from "node:diagnostics_channel";
import { AudienceClient, type ClientOptions, type Hooks, RateLimiter, type RequestEvent } from "audience-sdk";
import { createMockService, type MockServiceOptions } from "audience-sdk/mock";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { failureOf } from "./failure.ts";
import { contact, facts, recorded, settle, useFakeTime, v2Contact } from "./fixture.ts";

useFakeTime();
const requestChannel = tracingChannel("audience-sdk:request");

const levels = ["debug", "info", "warn", "error"] as const;

/** A logger, and its lines, each behind its level. */
function noting() {
  const lines: string[] = [];
  const note = (level: string) => [level, (line: string) => void lines.push(`${level} ${line}`)];
  return { lines, logger: Object.fromEntries(levels.map(note)) };
}

type HookCall = readonly [hook: string, event: RequestEvent];

/** A client whose hooks write one ordered log. */
function hooked(options: MockServiceOptions = {}, clientOptions: ClientOptions = {}) {
  const mock = createMockService(options);
  const hookLog: HookCall[] = [];
  const hook = (name: string) => (event: RequestEvent) => void hookLog.push([name, event]);
  const hooks = {
    onRequest: hook("request"),
    onResponse: hook("response"),
    onRetry: hook("retry"),
    onThrottle: hook("throttle"),
  };
  return { mock, hookLog, audience: new AudienceClient({ ...mock.clientOptions, hooks, ...clientOptions }) };
}

describe("Hooks", () => {
  it("are called for each attempt in order, with plain objects that hold only the documented properties", async () => {
    const { hookLog, audience } = hooked({
      faults: [
        { kind: "500-before", times: 1 },
        { kind: "reset-before", times: 1 },
        { kind: "429", retryAfter: 3, times: 1 },
      ],
    });

    await settle(audience.v1.customers.upsert(contact));

    const server = { name: "ServerError", code: "server", status: 500 };
    const reset = { name: "ConnectionError", code: "connection" };
    const refusal = { name: "RateLimitError", code: "rate_limit", status: 429 };
    const durationMs = expect.any(Number);
    const waitMs = expect.any(Number);
    expect(hookLog).toStrictEqual([
      ["request", { ...facts, attempt: 1 }],
      ["response", { ...facts, attempt: 1, status: 500, durationMs, error: server }],
      ["retry", { ...facts, attempt: 1, waitMs, error: server }],
      ["request", { ...facts, attempt: 2 }],
      ["retry", { ...facts, attempt: 2, waitMs, error: reset }],
      ["request", { ...facts, attempt: 3 }],
      ["response", { ...facts, attempt: 3, status: 429, durationMs, error: refusal }],
      ["retry", { ...facts, attempt: 3, waitMs: 3_000, error: refusal }],
      ["request", { ...facts, attempt: 4 }],
      ["response", { ...facts, attempt: 4, status: 201, durationMs }],
    ]);
    expect(new Set(hookLog.map(([, { requestId }]) => requestId)).size).toBe(1);
    for (const [, event] of hookLog) expect(Object.getPrototypeOf(event)).toBe(Object.prototype);
  });

  it.each<[string, (audience: AudienceClient) => PromiseLike<unknown>]>([
    ["v1.customers.upsert, POST /api/v1/customer/create", ({ v1 }) => v1.customers.upsert(contact)],
    ["v1.customers.get, GET /api/v1/customer/{id}", ({ v1 }) => v1.customers.get("c-1")],
    ["v1.customers.list, GET /api/v1/customer", ({ v1 }) => v1.customers.list()],
    ["v1.contactGroups.list, GET /api/v1/contact-groups", ({ v1 }) => v1.contactGroups.list()],
    ["v1.contactGroups.get, GET /api/v1/contact-groups/{id}", ({ v1 }) => v1.contactGroups.get("g-1")],
    [
      "v1.contactGroups.addContact, POST /api/v1/contact-groups/{listId}/contacts",
      ({ v1 }) => v1.contactGroups.addContact("g-1", contact),
    ],
    ["v1.events.send, POST /api/v1/events", ({ v1 }) => v1.events.send({ eventName: "e", contact })],
    ["v2.contacts.upsert, POST /v2/contacts", ({ v2 }) => v2.contacts.upsert(v2Contact)],
    ["v2.lists.list, GET /v2/lists", ({ v2 }) => v2.lists.list()],
  ])("get the name of the operation as it is written in code, and its path: %s", async (shown, call) => {
    const { hookLog, audience } = hooked();

    await settle(call(audience));

    const [name, { operation, method, path }] = hookLog[0] ?? expect.fail("no hook was called");
    expect([name, `${operation}, ${method} ${path}`]).toEqual(["request", shown]);
  });

  it("get the requestId of the error, a new one for each call", async () => {
    const { hookLog, audience } = hooked();

    const errors = await Promise.all([
      failureOf(audience.v1.customers.get("a")),
      failureOf(audience.v1.customers.get("b")),
    ]);

    expect(new Set(hookLog.map(([, { requestId }]) => requestId))).toEqual(
      new Set(errors.map(({ request }) => request?.requestId)),
    );
    expect(errors[0]?.request?.requestId).not.toBe(errors[1]?.request?.requestId);
  });

  it("are not called for a call that is never sent", async () => {
    const { hookLog, audience } = hooked();

    await failureOf(audience.v1.customers.upsert({ email: "x" }));
    await failureOf(audience.v1.customers.upsert(contact, { signal: AbortSignal.abort() }));

    expect(hookLog).toEqual([]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("broken hook");
      },
      true,
    ],
    ["rejects", async () => Promise.reject(new Error("broken hook")), true],
    [
      "changes the event",
      (event: RequestEvent) => {
        for (const each of [event.error ?? {}, event])
          for (const key of Object.keys(each)) Reflect.deleteProperty(each, key);
      },
      false,
    ],
    ["never ends", () => new Promise<void>(() => {}), false],
  ])("have no effect on the call, the other hooks or the channel if one %s", async (_, broken, isLogged) => {
    const seen = recorded(requestChannel);
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (line: string) => void warnings.push(line) };
    const hooks = Object.fromEntries(
      ["onRequest", "onResponse", "onRetry", "onThrottle"].map((name) => [name, broken]),
    ) as Hooks;
    const { mock, audience } = hooked({ faults: [{ kind: "500-before", times: 1 }] }, { hooks, logger });

    const call = audience.v1.customers.upsert(contact);
    await settle(call);

    expect((await call).id).toBeDefined();
    expect(mock.requests).toHaveLength(2);
    expect(seen.filter(([event]) => event === "asyncEnd").map(([, message]) => message)).toMatchObject([
      { ...facts, error: { name: "ServerError", code: "server", status: 500 } },
      { ...facts, status: 201 },
    ]);
    const names = ["onRequest", "onResponse", "onRetry"];
    expect([...new Set(warnings)].toSorted()).toEqual(
      isLogged
        ? names.map(
            (name) => `audience-sdk: the hook ${name} failed with Error: broken hook; this changes nothing`,
          )
        : [],
    );
  });
});

describe("A wait for the rate limit", () => {
  const waiting = (intervalMs: number, options: ClientOptions = {}) => {
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs }] });
    return hooked({}, { rateLimiter, ...options });
  };

  it.each([
    [11_000, ["warn"], 1],
    [9_000, [], 0],
  ])("of %i ms is logged at %j, and onThrottle is called %i times", async (intervalMs, expected, times) => {
    const { lines, logger } = noting();
    const { hookLog, audience } = waiting(intervalMs, { logger });
    await audience.v1.customers.list();
    hookLog.length = 0;

    await settle(audience.v1.customers.upsert(contact));

    expect(lines.map((line) => line.split(" ")[0])).toEqual(expected);
    const throttled = hookLog.filter(([name]) => name === "throttle");
    expect(throttled).toHaveLength(times);
    if (times === 1) {
      expect(throttled[0]?.[1]).toEqual({ ...facts, attempt: 1, waitMs: expect.any(Number) });
      expect(throttled[0]?.[1].waitMs).toBeGreaterThan(10_900);
      expect(lines[0]).toMatch(
        /^warn audience-sdk: v1\.customers\.upsert, attempt 1 \(request [0-9a-f-]+\) waits 110\d\d ms for the rate limit$/,
      );
    }
  });

  it("that grows longer than ten seconds is reported then, once", async () => {
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 3_000 }] });
    const { hookLog, audience } = hooked({}, { rateLimiter });
    await audience.v1.customers.get("c").catch(() => {});
    hookLog.length = 0;

    const overtaken = audience.v1.customers.upsert(contact, { priority: 9 });
    const others = Promise.all(
      Array.from({ length: 5 }, () => audience.v1.customers.list({}, { priority: 0 })),
    );
    await vi.advanceTimersByTimeAsync(10_000);
    const early = hookLog.filter(([name]) => name === "throttle");
    await settle(Promise.all([overtaken, others]));

    expect(early.map(([, { operation }]) => operation)).not.toContain("v1.customers.upsert");
    const late = hookLog.filter(
      ([name, { operation }]) => name === "throttle" && operation === facts.operation,
    );
    expect(late.map(([, event]) => event)).toEqual([{ ...facts, attempt: 1, waitMs: 10_001 }]);
  });
});

describe("The logger", () => {
  function logged(logLevel: ClientOptions["logLevel"]) {
    const { lines, logger } = noting();
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 12_000 }] });
    const hooks = {
      onRequest: () => {
        throw new Error("x");
      },
    };
    const options = { faults: [{ kind: "500-before", times: 1 } as const] };
    return { lines, ...hooked(options, { logger, logLevel, rateLimiter, hooks }) };
  }

  it.each([
    ["its first line alone", new Error("one\ntwo"), "Error: one"],
    ["an object by its type", { email: "ada@example.com" }, "object: an object"],
    ["no key", new Error("key secret-of-the-test is bad"), "Error: key [redacted] is bad"],
    ["no key in its name", Object.assign(new Error("x"), { name: "secret-of-the-test" }), "[redacted]: x"],
    [
      "no e-mail address",
      new Error('no ada@example.com, {"email":"a@b.c"} ada%40example.com: gone'),
      "Error: no … … … gone",
    ],
    ["no phone number", new Error("no +49 (170) 123-4567 and 5551234."), "Error: no +… and …."],
    [
      "shorter numbers",
      new Error("connect ECONNREFUSED 127.0.0.1:443"),
      "Error: connect ECONNREFUSED 127.0.0.1:443",
    ],
    ["no control character", new Error("a\u001b[2J"), "Error: a\\u001b[2J"],
  ])("shows of an error that a hook throws %s", async (_, thrown, shown) => {
    const lines: string[] = [];
    const onRequest = () => {
      throw thrown as Error; // Any value may be thrown.
    };
    const { audience } = hooked(
      {},
      {
        logger: { warn: (line) => void lines.push(line) },
        hooks: { onRequest },
        apiKeyV2: "secret-of-the-test",
      },
    );

    await audience.v1.customers.upsert(contact);

    expect(lines).toEqual([`audience-sdk: the hook onRequest failed with ${shown}; this changes nothing`]);
  });

  it("at debug logs each attempt, wait and retry", async () => {
    const { lines, audience } = logged("debug");

    await settle(audience.v1.customers.upsert(contact));

    const plain = lines.map((line) =>
      line
        .replace(/ \(request [0-9a-f-]{36}\)/, "")
        .replaceAll(/\d+ ms/g, "N ms")
        .replace("audience-sdk: ", ""),
    );
    expect(plain).toEqual([
      "warn the hook onRequest failed with Error: x; this changes nothing",
      "debug v1.customers.upsert, attempt 1 is sent",
      "debug v1.customers.upsert, attempt 1 got 500 in N ms",
      "debug v1.customers.upsert, attempt 1 is retried in N ms after ServerError",
      "warn v1.customers.upsert, attempt 2 waits N ms for the rate limit",
      "warn the hook onRequest failed with Error: x; this changes nothing",
      "debug v1.customers.upsert, attempt 2 is sent",
      "debug v1.customers.upsert, attempt 2 got 201 in N ms",
    ]);
  });

  it.each([
    [undefined, ["warn"]],
    ["warn", ["warn"]],
    ["info", ["warn"]],
    ["error", []],
    ["silent", []],
  ] as const)("at %s gets only messages of at least that level", async (logLevel, expected) => {
    const { lines, audience } = logged(logLevel);

    await settle(audience.v1.customers.upsert(contact));

    expect([...new Set(lines.map((line) => line.split(" ")[0]))]).toEqual(expected);
  });

  it("is called as a method, so that it may be an instance of a class", async () => {
    class Lines {
      readonly lines: string[] = [];
      debug(line: string) {
        this.lines.push(line);
      }
    }
    const logger = new Lines();
    const { audience } = hooked({}, { logger, logLevel: "debug" });

    await settle(audience.v1.customers.upsert(contact));

    expect(logger.lines).toHaveLength(2);
  });

  it("is optional: without one nothing is logged", async () => {
    const printed = (["log", "debug", "info", "warn", "error", "trace"] as const).map((name) =>
      vi.spyOn(console, name).mockImplementation(() => {}),
    );
    const written = [
      vi.spyOn(process.stdout, "write"),
      vi.spyOn(process.stderr, "write"),
      vi.spyOn(process, "emitWarning"),
    ];
    const { audience } = hooked(
      { faults: [{ kind: "429", retryAfter: 15 }] },
      { rateLimiter: new RateLimiter(), logLevel: "debug", hooks: {} },
    );

    await settle(audience.v1.customers.upsert(contact));
    await settle(failureOf(audience.v1.customers.upsert({ email: "" })));

    for (const spy of [...printed, ...written]) expect(spy).not.toHaveBeenCalled();
  });
});

it("The tracing channel audience-sdk:request carries one message per attempt, filled in during the attempt, with the properties of the hook events", async () => {
  const objects = new Set<unknown>();
  const note = (message: unknown) => void objects.add(message);
  for (const channel of ["start", "asyncEnd"].map((event) => `tracing:audience-sdk:request:${event}`)) {
    subscribe(channel, note);
    onTestFinished(() => void unsubscribe(channel, note));
  }
  const log = recorded(requestChannel);
  const { audience, hookLog } = hooked({ faults: [{ kind: "500-before", times: 1 }] });

  await settle(audience.v1.customers.upsert(contact));

  const begun = (attempt: number) => ({ ...facts, attempt });
  const failed = {
    ...begun(1),
    status: 500,
    durationMs: expect.any(Number),
    error: { name: "ServerError", code: "server", status: 500 },
  };
  const done = { ...begun(2), status: 201, durationMs: expect.any(Number) };
  expect(log).toEqual([
    ["start", begun(1)],
    ["end", begun(1)],
    ["error", failed],
    ["asyncStart", failed],
    ["asyncEnd", failed],
    ["start", begun(2)],
    ["end", begun(2)],
    ["asyncStart", done],
    ["asyncEnd", done],
  ]);
  expect(objects.size).toBe(2);
  expect(log.filter(([name]) => name === "asyncEnd").map(([, event]) => event)).toEqual(
    hookLog.filter(([name]) => name === "response").map(([, event]) => event),
  );
});
