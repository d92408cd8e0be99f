import { ConfigurationError } from "./errors.ts";
import { kindOf } from "./fields/kind-of.ts";
import { nameMeant } from "./fields/name-hint.ts";
import { isObject, isRecord } from "./is-object.ts";

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
    holds: (value) => isRecord(value) && !ArrayBuffer.isView(value),
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
  countOrAll: {
    holds: (value) => value === Infinity || (isWhole(value) && value >= 0),
    words: "a whole number from 0",
    isNumeric: true,
  },
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
    words: "an AbortSignal (of a controller its `signal`)",
  },
} as const satisfies Record<string, OptionRule>;

/** By its shape: a polyfilled signal, or one of another realm, is a signal too. */
function isSignal(value: unknown): boolean {
  try {
    return (
      isObject(value) &&
      typeof Reflect.get(value, "aborted") === "boolean" &&
      typeof Reflect.get(value, "addEventListener") === "function" &&
      typeof Reflect.get(value, "removeEventListener") === "function"
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
      checkOption(name, value, rule);
      given[name] = value;
    }
    return given;
  });
}

/** Throws a `ConfigurationError` that names the option and what it must be, where it is not. */
export function checkOption(name: string, value: unknown, rule: OptionRule): void {
  if (readGuarded(name, () => rule.holds(value))) return;
  throw new ConfigurationError(`${name} must be ${rule.words}, not ${wrongValue(value, rule)}.`);
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
  if (isNumeric && typeof value === "number") return String(value);
  if (ArrayBuffer.isView(value)) return "binary data";
  return value === "" ? "an empty text" : kindOf(value);
}
