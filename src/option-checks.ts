import { ConfigurationError } from "./errors.ts";
import { nameMeant } from "./fields/name-hint.ts";

/** What an option must be, as a question and in words. */
export interface OptionRule {
  readonly holds: (value: unknown) => boolean;
  readonly words: string;
  /** A wrong number may be shown. Elsewhere it could be a key. */
  readonly isNumeric?: true;
}

const isNumber = (value: unknown): value is number => typeof value === "number" && !Number.isNaN(value);
const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);

export const rules = {
  boolean: { holds: (value) => typeof value === "boolean", words: "true or false" },
  text: {
    holds: (value) => typeof value === "string" && value.trim() !== "",
    words: "a text that is not empty",
  },
  function: { holds: (value) => typeof value === "function", words: "a function" },
  object: {
    // Bytes are an object with millions of keys.
    holds: (value) =>
      typeof value === "object" && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value),
    words: "an object",
  },
  durationMs: {
    holds: (value) => isNumber(value) && value > 0,
    words: "a number of milliseconds above 0",
    isNumeric: true,
  },
  waitMs: {
    holds: (value) => isNumber(value) && value >= 0,
    words: "a number of milliseconds from 0",
    isNumeric: true,
  },
  count: { holds: (value) => isWhole(value) && value >= 0, words: "a whole number from 0", isNumeric: true },
  positiveCount: {
    holds: (value) => isWhole(value) && value > 0,
    words: "a whole number from 1",
    isNumeric: true,
  },
  priority: {
    holds: (value) => isWhole(value) && value >= 0 && value <= 9,
    words: "a whole number from 0 (first) to 9 (last)",
    isNumeric: true,
  },
  signal: {
    holds: isSignal,
    words: "an AbortSignal",
  },
} as const satisfies Record<string, OptionRule>;

/** By its shape: a polyfilled signal, or one of another realm, is a signal too. */
function isSignal(value: unknown): boolean {
  try {
    return (
      typeof value === "object" &&
      value !== null &&
      "aborted" in value &&
      "addEventListener" in value &&
      typeof value.addEventListener === "function"
    );
  } catch {
    // A proxy that throws is none.
    return false;
  }
}

/**
 * The options that are given, each read once and checked by its rule. An unknown name is an error too: a typing error
 * must not go unheard. An explicit `undefined` is an option left out.
 */
export function readOptions(
  options: unknown,
  allowed: Readonly<Record<string, OptionRule>>,
  place: string,
): Readonly<Record<string, unknown>> {
  return readGuarded(place, () => {
    if (!rules.object.holds(options))
      throw new ConfigurationError(`${place} must be an object, not ${kindOf(options)}.`);
    const given: Record<string, unknown> = {};
    // True: the rule has just found an object.
    for (const [name, value] of Object.entries(options as object)) {
      if (value === undefined) continue;
      const rule = Object.hasOwn(allowed, name) ? allowed[name] : undefined;
      if (!rule) throw new ConfigurationError(unknownOption(name, Object.keys(allowed), place));
      const holds = readGuarded(name, () => rule.holds(value));
      if (!holds)
        throw new ConfigurationError(`${name} must be ${rule.words}, not ${wrongValue(value, rule)}.`);
      given[name] = value;
    }
    return given;
  });
}

/** What `read` gives; where a getter or a proxy throws, an error of ours that does not show what was thrown. */
export function readGuarded<T>(place: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw new ConfigurationError(`${place} cannot be read: a getter or a proxy throws.`);
  }
}

function unknownOption(name: string, allowed: readonly string[], place: string): string {
  const given = name.toLowerCase();
  const meant = nameMeant(name, allowed) ?? allowed.find((each) => each.toLowerCase().startsWith(given));
  const wayOut = meant ? `did you mean ${meant}?` : `there are ${allowed.join(", ")}.`;
  return `${place}: there is no option ${JSON.stringify(name)}; ${wayOut}`;
}

function wrongValue(value: unknown, { isNumeric }: OptionRule): string {
  return isNumeric && typeof value === "number" ? String(value) : kindOf(value);
}

/** A value's kind; never the value, which could be a key in the wrong place. */
function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (value === "") return "an empty text";
  if (ArrayBuffer.isView(value)) return "binary data";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
