const unreadableRule = "cannot be read: a getter throws";
import { isRecord } from "./is-object.ts";
import { ConfigurationError } from "./errors.ts";
import { contentLost, kindOf } from "./schema/kind-of.ts";
import { nameMeant } from "./schema/name-hint.ts";

/** What an option must be, as a question and in words. */
export interface OptionRule {
  readonly holds: (value: unknown) => boolean;
  readonly words: string;
  /** A wrong number may be shown. Elsewhere it could be a key. */
  readonly isNumeric?: true;
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
    const given: Record<string, unknown> = {};
    for (const [name, value] of entriesOf(options, place)) {
      if (value === undefined) continue;
      const rule = Object.hasOwn(allowed, name) ? allowed[name] : undefined;
      if (!rule) throw new ConfigurationError(unknownOption(name, Object.keys(allowed), place));
      checkOption(name, value, rule);
      given[name] = value;
    }
    return given;
  });
}

/** Refuses what holds its content elsewhere: it would pass for an object without any. */
export function entriesOf(value: unknown, place: string): [name: string, value: unknown][] {
  const kind = isRecord(value) ? contentLost(value) : kindOf(value);
  // True: it is an object.
  if (kind === undefined) return Object.entries(value as object);
  throw new ConfigurationError(`${place} must be a plain object, not ${kind}${commonMistakes[kind] ?? ""}.`);
}

/** What was meant, where the mistake is a common one. */
const commonMistakes: Readonly<Record<string, string>> = {
  "a Promise": ": await it",
  "an AbortSignal": ": write { signal }",
};

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
    throw new ConfigurationError(`${place} ${unreadableRule}.`);
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
