import { inspect } from "node:util";
import { isAudienceError } from "audience-sdk";
import { expect } from "vitest";

const fails = (): never => {
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
const hostileValues: Readonly<Record<string, () => unknown>> = {
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
  "an async function that rejects": () => async () => fails(),
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
  "a toJSON that throws": () => ({ toJSON: fails }),
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

/** A function, a constructor or an option that accepts any value from a user. */
type EntryPoint = (...values: unknown[]) => unknown;

/** The error that it may throw. An entry that does not load the client throws a TypeError. */
type Allowed = "an error of ours" | "a TypeError";

const longestWaitMs = 20_000;
const hostile = Object.entries(hostileValues);

/**
 * Calls an entry point with each hostile value as each of its arguments, and with one in each place of its accepted inputs,
 * of which `valid` has some for each argument. It returns a result or the allowed error in time, without unhandled
 * rejections, without a polluted prototype, and without changes of the values.
 */
export async function tryEntryPoint(
  act: EntryPoint,
  valid: readonly (readonly unknown[])[] = [[]],
  allowed: Allowed = "an error of ours",
): Promise<void> {
  const accepted = () => valid.map(([input]) => copyOf(input));
  let turn = 0;
  for (const [at, inputs] of valid.entries()) {
    for (const [name, make] of hostile)
      await tryOnce(act, accepted().with(at, make()), { allowed, what: `argument ${at} is ${name}` });
    for (const input of inputs) {
      for (const place of placesOf(input)) {
        // With all of them in each place the table would be a product.
        const [name, make] = hostile[turn++ % hostile.length] ?? expect.fail("no value");
        const values = accepted().with(at, withValue(input, place, make()));
        await tryOnce(act, values, { allowed, what: `argument ${at} has ${name} at ${place.join(".")}` });
      }
    }
  }
}

type Place = readonly string[];

function isContainer(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}

/** The names that lead to each inner value. Instances are whole values. */
function placesOf(value: unknown, above: Place = []): Place[] {
  if (!isContainer(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const place = [...above, name];
    return [place, ...placesOf(inner, place)];
  });
}

/** A copy with another value at one place. */
function withValue(input: unknown, [name, ...inner]: Place, value: unknown): unknown {
  if (name === undefined) return value;
  const copy = copyOf(input) as object;
  Reflect.set(copy, name, withValue(Reflect.get(copy, name), inner, value));
  return copy;
}

/** Functions, signals and instances are not copied: only plain objects and arrays are. */
function copyOf(value: unknown): unknown {
  if (!isContainer(value)) return value;
  if (Array.isArray(value)) return value.map(copyOf);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, copyOf(inner)]));
}

async function tryOnce(
  act: EntryPoint,
  values: unknown[],
  { allowed, what }: { allowed: Allowed; what: string },
): Promise<void> {
  const before = values.map((value) => inspect(value));
  const unhandled: unknown[] = [];
  const record = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", record);
  try {
    const thrown = await errorWithinTimeout(async () => await act(...values), what);
    // Unhandled rejections are reported at the end of the turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    if (thrown) expectAllowedError(thrown.error, allowed, what);
  } finally {
    process.off("unhandledRejection", record);
  }
  expect(unhandled, what).toEqual([]);
  expect(Reflect.get({}, "polluted"), what).toBeUndefined();
  expect(
    values.map((value) => inspect(value)),
    what,
  ).toEqual(before);
}

async function errorWithinTimeout(
  act: () => Promise<unknown>,
  what: string,
): Promise<{ error: unknown } | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hang = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`hangs: ${what}`)), longestWaitMs);
  });
  try {
    await Promise.race([act(), hang]);
    return undefined;
  } catch (error) {
    return { error };
  } finally {
    clearTimeout(timer);
  }
}

function expectAllowedError(error: unknown, allowed: Allowed, what: string): void {
  const isAllowed = allowed === "a TypeError" ? error instanceof TypeError : isAudienceError(error);
  if (!isAllowed) throw new Error(`not ${allowed}, ${what}: ${inspect(error)}`);
  // Safe: a TypeError and an SDK error are both an Error.
  const { message } = error as Error;
  // Logging it must not throw, nor show the hostile message.
  expect(JSON.stringify(error) + message, what).not.toContain(hostileMessage);
  expect(inspect(error)).not.toBe("");
}
