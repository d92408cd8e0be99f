import { inspect } from "node:util";
import { isAudienceError } from "audience-sdk";
import { expect } from "vitest";
import { hostileMessage, hostileValues } from "./hostile-values.ts";

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
