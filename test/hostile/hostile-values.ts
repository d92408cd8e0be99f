const hostile = (): never => {
  throw new Error(hostileMessage);
};

class Person {
  readonly #secret = "hidden";
  email = "ada@example.com";
  get secret(): string {
    return this.#secret;
  }
}

function nested(levels: number): unknown {
  let value: unknown = "x";
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? { a: value } : [value];
  return value;
}

/** The message that every hostile function throws. It must not appear anywhere. */
export const hostileMessage = "thrown by the input";

/** What a caller in JavaScript can pass anywhere. Each use gets a value of its own. */
export const hostileValues: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  NaN: () => Number.NaN,
  "2^53": () => 2 ** 53,
  "an empty string": () => "",
  "half a character": () => "\ud800",
  "a path": () => "../..",
  "a long string": () => "x/@ ".repeat(25_000),
  "a BigInt": () => 5n,
  "a symbol": () => Symbol("odd"),
  "a function": () => () => 1,
  "an async function that rejects": () => async () => hostile(),
  "an empty object": () => ({}),
  "a Map": () => new Map([["email", "ada@example.com"]]),
  "an invalid Date": () => new Date(Number.NaN),
  "an Error": () => new Error("odd", { cause: { code: 5 } }),
  "a rejected promise": () => {
    const promise = Promise.reject(new Error(hostileMessage));
    // Handled here; the code under test must handle any promise that it derives from it.
    promise.catch(() => undefined);
    return promise;
  },
  "a cycle": () => {
    const cycle: Record<string, unknown> = { email: "ada@example.com" };
    cycle["self"] = cycle;
    return cycle;
  },
  "a frozen instance": () => Object.freeze(new Person()),
  "an object without a prototype": () => Object.assign(Object.create(null) as object, { email: "a@b" }),
  "__proto__ as an own key": () => JSON.parse('{"__proto__":{"polluted":1},"email":"a@b"}') as unknown,
  "constructor as an own key": () => JSON.parse('{"constructor":{"prototype":{"polluted":1}}}') as unknown,
  "a toJSON that throws": () => ({ toJSON: hostile }),
  "an aborted signal": () => AbortSignal.abort(hostileMessage),
  "deep nesting": () => nested(10_000),
  "an array of holes": () => Object.assign([], { length: 1_001 }),
  "a thousand keys": () => Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`key${at}`, at])),
};

// Accepted inputs, in which another value takes one place.

const consent = { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" };

export const validV1Contact = {
  email: "ada@example.com",
  phone: "+15550100",
  email_opt_in: "SUBSCRIBED",
  phone_opt_in: "NON_SUBSCRIBED",
  dob: "1990-01-31",
  double_opt_in: true,
  custom_properties: { plan: "gold", seats: 5 },
};

export const validEvent = {
  eventName: "order placed",
  uniqueIdentifier: "order-1",
  contact: { email: "ada@example.com", tags: [1] },
  eventData: { lines: [{ sku: "a", count: 1 }] },
};

const validIdentifier = {
  type: "email",
  id: "ada@example.com",
  channels: { email: { status: "subscribed" } },
  consent,
};

export const validV2Contact = {
  firstName: "Ada",
  createdAt: "2026-01-31",
  listIds: ["list-1"],
  identifiers: [validIdentifier],
  extra: { tags: ["a"] },
};

export const validQuery = { page: 1, limit: 10 };

export const validCallOptions = {
  signal: new AbortController().signal,
  timeoutMs: 1_000,
  deadlineMs: 2_000,
  maxRetries: 0,
  maxWaitMs: 0,
  priority: 5,
  headers: { "x-request": "1" },
  repeatable: true,
};
