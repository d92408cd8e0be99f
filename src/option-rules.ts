import { hasMethods, isRecord } from "./is-object.ts";
import type { OptionRule } from "./option-checks.ts";

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

function numeric(words: string, holds: (value: number) => boolean): OptionRule {
  return { holds: (value) => typeof value === "number" && holds(value), words, isNumeric: true };
}

export const rules = {
  boolean: { holds: (value) => typeof value === "boolean", words: "true or false" },
  text: {
    holds: (value) => typeof value === "string" && value.trim() !== "",
    words: "a text that is not empty",
  },
  function: { holds: (value) => typeof value === "function", words: "a function" },
  object: { holds: isNoBytes, words: "an object" },
  durationMs: numeric("a number of milliseconds above 0", (value) => value > 0),
  waitMs: numeric("a number of milliseconds from 0", (value) => value >= 0),
  count: numeric("a whole number from 0", isCount),
  countOrAll: numeric("a whole number from 0", (value) => isCount(value) || value === Infinity),
  positiveCount: numeric("a whole number from 1", (value) => isCount(value) && value > 0),
  priority: numeric("a whole number from 0 (first) to 9 (last)", (value) => isCount(value) && value <= 9),
  signal: {
    holds: isSignal,
    words: "an AbortSignal (a controller's `signal`)",
  },
} as const satisfies Record<string, OptionRule>;

/** Bytes are an object too, with millions of keys. */
function isNoBytes(value: unknown): value is object {
  return isRecord(value) && !ArrayBuffer.isView(value);
}

/** By its shape: a polyfilled signal, or one of another realm, is a signal too. */
function isSignal(value: unknown): boolean {
  try {
    return (
      hasMethods(value, "addEventListener", "removeEventListener") &&
      typeof Reflect.get(value, "aborted") === "boolean"
    );
  } catch {
    // A proxy that throws is none.
    return false;
  }
}
