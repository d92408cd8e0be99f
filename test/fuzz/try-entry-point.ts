import { inspect } from "node:util";
import { isAudienceError } from "audience-sdk";
import fc from "fast-check";
import { expect } from "vitest";
import { runs } from "../properties/runs.ts";
import { buildValue, hostileMessage } from "./build-value.ts";
import { nearlyValid, type HostileValue } from "./hostile-value.ts";
import { shapeOf } from "./shape-of.ts";

/** Something that takes values of anybody: a function, a constructor, an option. */
export interface EntryPoint {
  readonly act: (...values: unknown[]) => unknown;
  /** Inputs that would be accepted, one list for each value: a graft spoils one place of one of them. */
  readonly valid?: readonly (readonly unknown[])[];
  /** How many values it takes; default 1. */
  readonly argumentCount?: number;
  /** What it answers with beside a result. An entry that loads nothing of the client throws a TypeError. */
  readonly allowedError?: "an error of ours" | "a TypeError";
  /** Of the processor; default 100. What goes through many calls at once, or copies a million values, takes longer. */
  readonly longestMs?: number;
}

/** Of the processor, whatever the value: no call, check or option keeps everybody else from it for longer. */
const longestMs = 100;
/** How much slower than the machine of these figures another may be, or be made by what else it does. */
const slowest = 10;
const longestWaitMs = 20_000;

/**
 * Goes through a door with hostile values, `count` times; or as often as `PROPERTY_RUNS` says, by hand. A result or a promised
 * error comes back, in time; nothing is rejected unheard, no prototype is polluted, and the values are as they were.
 */
export async function tryEntryPoint(entryPoint: EntryPoint, count: number): Promise<void> {
  const values = fc.tuple(...Array.from({ length: entryPoint.argumentCount ?? 1 }, () => nearlyValid));
  await fc.assert(
    fc.asyncProperty(values, (descriptions) => tryArguments(entryPoint, descriptions)),
    runs(count),
  );
}

async function tryArguments(entryPoint: EntryPoint, descriptions: readonly HostileValue[]): Promise<void> {
  // Slow once may be the collector's doing; slow three times running is not.
  for (let round = 1; ; round++) {
    const tookMs = await tryArgumentsOnce(entryPoint, descriptions);
    if (tookMs <= (entryPoint.longestMs ?? longestMs) * slowest) return;
    if (round === 3) throw new Error(`takes ${Math.round(tookMs)} ms of the processor`);
  }
}

async function tryArgumentsOnce(
  { act, allowedError, valid: valid = [] }: EntryPoint,
  descriptions: readonly HostileValue[],
): Promise<number> {
  const values = descriptions.map((description, at) => buildValue(description, valid[at]));
  const before = values.map(shapeOf);
  const unhandled: unknown[] = [];
  const record = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", record);
  // Of the processor, which others may be using too.
  const started = process.cpuUsage();
  let tookMs: number;
  try {
    const ending = await withinTimeout(async () => await act(...values));
    const { user, system } = process.cpuUsage(started);
    tookMs = (user + system) / 1_000;
    // What is unheard is known once the turn is over.
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
  // True: a TypeError and an error of ours are both.
  const { message } = error as Error;
  expect(typeof message).toBe("string");
  // Whoever logs it must not meet an error again, nor words that may hold anything.
  expect(JSON.stringify(error) + message).not.toContain(hostileMessage);
  expect(inspect(error)).not.toBe("");
}
