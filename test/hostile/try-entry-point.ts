import { inspect, types } from "node:util";
import { isAudienceError } from "audience-sdk";
import { expect } from "vitest";
import { hostileMessage, hostileValues } from "./hostile-values.ts";

/** A function, a constructor or an option that accepts any value from a user. */
export interface EntryPoint {
  readonly act: (...values: unknown[]) => unknown;
  /** Accepted inputs, one array for each argument. */
  readonly valid?: readonly (readonly unknown[])[];
  /** The number of its arguments; default 1. */
  readonly argumentCount?: number;
  /** The error that it may throw. An entry that does not load the client throws a TypeError. */
  readonly allowedError?: "an error of ours" | "a TypeError";
}

const longestWaitMs = 20_000;
const hostile = Object.entries(hostileValues);

/**
 * Calls an entry point with each hostile value as each of its arguments, and with one in each place of its accepted inputs.
 * It returns a result or the allowed error in time, without unhandled rejections, without a polluted prototype, and without
 * changes of the values.
 */
export async function tryEntryPoint(entryPoint: EntryPoint): Promise<void> {
  const { argumentCount = 1, valid = [] } = entryPoint;
  const accepted = () => Array.from({ length: argumentCount }, (_, at) => copyOf(valid[at]?.[0]));
  let turn = 0;
  for (let at = 0; at < argumentCount; at++) {
    for (const [name, make] of hostile) {
      const values = accepted();
      values[at] = make();
      await tryOnce(entryPoint, values, `argument ${at} is ${name}`);
    }
    for (const input of valid[at] ?? []) {
      for (const place of placesOf(input)) {
        // With all of them in each place the table would be a product.
        const [name, make] = hostile[turn++ % hostile.length] ?? expect.fail("no value");
        const values = accepted();
        values[at] = withValue(input, place, make());
        await tryOnce(entryPoint, values, `argument ${at} has ${name} at ${place.join(".")}`);
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

async function tryOnce({ act, allowedError }: EntryPoint, values: unknown[], what: string): Promise<void> {
  const before = values.map(shapeOf);
  const unhandled: unknown[] = [];
  const record = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", record);
  try {
    const ending = await withinTimeout(async () => await act(...values), what);
    // Unhandled rejections are reported at the end of the turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    if (ending) expectAllowedError(ending.thrown, allowedError, what);
  } finally {
    process.off("unhandledRejection", record);
  }
  expect(unhandled, what).toEqual([]);
  expect(Reflect.get({}, "polluted"), what).toBeUndefined();
  expect(values.map(shapeOf), what).toEqual(before);
}

async function withinTimeout(
  act: () => Promise<unknown>,
  what: string,
): Promise<{ thrown: unknown } | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hang = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`hangs: ${what}`)), longestWaitMs);
  });
  try {
    await Promise.race([act(), hang]);
    return undefined;
  } catch (thrown) {
    return { thrown };
  } finally {
    clearTimeout(timer);
  }
}

function expectAllowedError(
  error: unknown,
  allowedError: EntryPoint["allowedError"] = "an error of ours",
  what = "",
): void {
  const isAllowed = allowedError === "a TypeError" ? error instanceof TypeError : isAudienceError(error);
  if (!isAllowed) throw new Error(`not ${allowedError}, ${what}: ${inspect(error)}`);
  // Safe: a TypeError and an SDK error are both an Error.
  const { message } = error as Error;
  expect(typeof message).toBe("string");
  // Logging it must not throw, nor show the hostile message.
  expect(JSON.stringify(error) + message, what).not.toContain(hostileMessage);
  expect(inspect(error)).not.toBe("");
}

const mostNodes = 2_000;
const prototypesWithState: ReadonlySet<unknown> = new Set([
  AbortSignal.prototype,
  ReadableStream.prototype,
  Response.prototype,
]);

/**
 * The structure of a value, as a string to compare: names, types and plain values of its own properties, at any depth
 * up to a bound. Runs no getter and no trap.
 */
function shapeOf(root: unknown): string {
  const numbers = new Map<object, number>();
  const open: unknown[] = [root];
  const shape: string[] = [];
  for (let at = 0; at < open.length && at < mostNodes; at++) {
    const value = open[at];
    const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
    if (!isObject) {
      shape.push(typeof value === "string" ? `${value.length}:${value.slice(0, 40)}` : String(value));
      continue;
    }
    const seenAs = numbers.get(value);
    shape.push(seenAs === undefined ? "new" : `seen ${seenAs}`);
    if (seenAs !== undefined || types.isProxy(value) || ArrayBuffer.isView(value)) continue;
    // Listening to it or reading it changes its internal state.
    if (prototypesWithState.has(Object.getPrototypeOf(value))) continue;
    numbers.set(value, at);
    shape.push(Object.isFrozen(value) ? "frozen" : Object.isExtensible(value) ? "open" : "closed");
    for (const name of Reflect.ownKeys(value).slice(0, 1_100)) {
      const property = Object.getOwnPropertyDescriptor(value, name);
      shape.push(String(name), property && "value" in property ? "value" : "accessor");
      if (property && "value" in property) open.push(property.value);
    }
  }
  return shape.join("\n");
}
