import { inspect } from "node:util";
import { isAudienceError } from "audience-sdk";
import fc from "fast-check";
import { expect } from "vitest";
import { runs } from "../properties/runs.ts";
import { buildValue, hostileMessage } from "./build-value.ts";
import { nearlyValid, type HostileValue } from "./hostile-value.ts";
import { shapeOf } from "./shape-of.ts";

/** A function, a constructor or an option that accepts any value from a user. */
export interface EntryPoint {
  readonly act: (...values: unknown[]) => unknown;
  /** Accepted inputs, one array for each argument: a graft replaces one path in one of them. */
  readonly valid?: readonly (readonly unknown[])[];
  /** The number of its arguments; default 1. */
  readonly argumentCount?: number;
  /** The error that it may throw. An entry that does not load the client throws a TypeError. */
  readonly allowedError?: "an error of ours" | "a TypeError";
  /** Processor time; default 100. Many calls at once, or a copy of a million values, take longer. */
  readonly longestMs?: number;
}

/** Processor time for any value: no call, check or option blocks the process for longer. */
const longestMs = 100;
/** The factor by which a slower or busier machine may exceed these figures. */
const slowest = 10;
const longestWaitMs = 20_000;

/**
 * Calls an entry point with hostile values, `count` times or `PROPERTY_RUNS` times. It returns a result or the allowed
 * error in time, without unhandled rejections, without a polluted prototype, and without changes of the values.
 */
export async function tryEntryPoint(entryPoint: EntryPoint, count: number): Promise<void> {
  const values = fc.tuple(...Array.from({ length: entryPoint.argumentCount ?? 1 }, () => nearlyValid));
  await fc.assert(
    fc.asyncProperty(values, (descriptions) => tryArguments(entryPoint, descriptions)),
    runs(count),
  );
}

async function tryArguments(entryPoint: EntryPoint, descriptions: readonly HostileValue[]): Promise<void> {
  // One slow run may be due to the garbage collector; three slow runs in a row are not.
  for (let round = 1; ; round++) {
    const tookMs = await tryArgumentsOnce(entryPoint, descriptions);
    if (tookMs <= (entryPoint.longestMs ?? longestMs) * slowest) return;
    if (round === 3) throw new Error(`takes ${Math.round(tookMs)} ms of the processor`);
  }
}

async function tryArgumentsOnce(
  { act, allowedError, valid = [] }: EntryPoint,
  descriptions: readonly HostileValue[],
): Promise<number> {
  const values = descriptions.map((description, at) => buildValue(description, valid[at]));
  const before = values.map(shapeOf);
  const unhandled: unknown[] = [];
  const record = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", record);
  // Processor time, because other processes run too.
  const started = process.cpuUsage();
  let tookMs: number;
  try {
    const ending = await withinTimeout(async () => await act(...values));
    const { user, system } = process.cpuUsage(started);
    tookMs = (user + system) / 1_000;
    // Unhandled rejections are reported at the end of the turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    if (ending) expectAllowedError(ending.thrown, allowedError);
  } finally {
    process.off("unhandledRejection", record);
  }
  expect(unhandled).toEqual([]);
  expect(Reflect.get({}, "polluted")).toBeUndefined();
  expect(values.map(shapeOf)).toEqual(before);
  return tookMs;
}

async function withinTimeout(act: () => Promise<unknown>): Promise<{ thrown: unknown } | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hang = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("hangs")), longestWaitMs);
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
): void {
  const isAllowed = allowedError === "a TypeError" ? error instanceof TypeError : isAudienceError(error);
  if (!isAllowed) throw new Error(`not ${allowedError}: ${inspect(error)}`);
  // Safe: a TypeError and an SDK error are both an Error.
  const { message } = error as Error;
  expect(typeof message).toBe("string");
  // Logging it must not throw, nor show the hostile message.
  expect(JSON.stringify(error) + message).not.toContain(hostileMessage);
  expect(inspect(error)).not.toBe("");
}
