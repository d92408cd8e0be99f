/** Checks that all options and seeds of the mock share. */

/** The values that an option accepts, and its description in an error. */
export interface OptionRule {
  readonly accepts: (value: unknown) => boolean;
  readonly expectation: string;
}

/** An object that is not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isNonEmptyString(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Whether the value is a base URL, to which paths can be appended. */
export function isBaseUrl(value: unknown): value is string {
  return typeof value === "string" && /^https?:[^?#]*$/i.test(value) && URL.canParse(value);
}

/** Milliseconds that a timer can wait. */
export function isDuration(value: unknown): value is number {
  return isCount(value) && value < 2 ** 31;
}

export function isCount(value: unknown): value is number {
  return typeof value === "number" && value >= 0;
}

export const anyString: OptionRule = {
  accepts: (value) => typeof value === "string",
  expectation: "a string",
};
export const nonEmptyString: OptionRule = {
  accepts: isNonEmptyString,
  expectation: "a string that is not empty",
};
export const boolean: OptionRule = {
  accepts: (value) => typeof value === "boolean",
  expectation: "a boolean",
};
export const number: OptionRule = { accepts: Number.isFinite, expectation: "a number" };
export const count: OptionRule = { accepts: isCount, expectation: "a number from 0" };
export const duration: OptionRule = { accepts: isDuration, expectation: "milliseconds from 0" };
export const array: OptionRule = { accepts: Array.isArray, expectation: "an array" };
export const object: OptionRule = { accepts: isObject, expectation: "an object" };
export const fromOne: OptionRule = {
  accepts: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
  expectation: "an integer from 1",
};

export function enumOf(...choices: readonly unknown[]): OptionRule {
  return { accepts: (value) => choices.includes(value), expectation: `one of ${choices.join(", ")}` };
}

/** Refuses unknown names: a misspelt option would silently have its default. */
export function checkNames(subject: string, given: object, names: readonly string[]): void {
  for (const [name, value] of Object.entries(given))
    if (value !== undefined && !names.includes(name))
      throw new TypeError(`${subject}: "${name}" is none of ${names.join(", ")}`);
}

/** Refuses an unknown name, a value that breaks the rule of its name, and an absent one that is required. */
export function checkValues(
  subject: string,
  given: object,
  rules: Readonly<Record<string, OptionRule>>,
  { path = `${subject}.`, required = [] }: { path?: string; required?: readonly string[] } = {},
): void {
  checkNames(subject, given, Object.keys(rules));
  for (const [name, { accepts, expectation }] of Object.entries(rules)) {
    const value: unknown = Reflect.get(given, name);
    const isAbsent = value === undefined && !required.includes(name);
    if (!isAbsent && !accepts(value)) throw new TypeError(`${path}${name} must be ${expectation}`);
  }
}

/** Refuses a Promise, a Map and the like: without properties they would be taken for no options. */
export function checkPlainObject(name: string, value: unknown): asserts value is object {
  const prototype: unknown = isObject(value) ? Object.getPrototypeOf(value) : value;
  const isInstance = isObject(prototype) && Object.getPrototypeOf(prototype) !== null;
  if (!isObject(value) || (isInstance && Object.keys(value).length === 0))
    throw new TypeError(`${name} must be a plain object`);
}

/** Copies an input of the mock, so that later changes do not affect the mock. Functions are not copied. */
export function copyOf<T>(name: string, given: T): T {
  const copy = (value: unknown): unknown => {
    if (typeof value === "bigint" || typeof value === "symbol")
      throw new TypeError(`${name} hold a ${typeof value}, which no JSON can carry`);
    if (value instanceof Date) return new Date(value);
    if (Array.isArray(value)) return Array.from(value, copy);
    if (!isObject(value)) return value;
    if (typeof value["toJSON"] === "function")
      throw new TypeError(`${name} hold a toJSON: pass its result instead`);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copy(inner)]));
  };
  try {
    // Safe: a copy has the same type.
    return copy(given) as T;
  } catch (error) {
    if (error instanceof TypeError) throw error;
    throw new TypeError(`${name} cannot be read: they contain themselves, or throw`, { cause: error });
  }
}
