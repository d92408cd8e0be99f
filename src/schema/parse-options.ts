import * as z from "zod";
import { ConfigurationError } from "../errors.ts";
import { awaitIt, contentLost, kindOf } from "./kind-of.ts";
import { hasMethods, isObject, isRecord } from "./predicates.ts";
import { explain, nameMeant, toIssues } from "./validation-issues.ts";

/** An option with a custom rule. The message does not show the value: it could be a key. */
export function optionThat<Value>(expectation: string, isRight: (value: unknown) => boolean) {
  return z.custom<Value>(isRight, {
    error: ({ input }) => `must be ${expectation}, not ${input === "" ? "an empty string" : kindOf(input)}`,
  });
}

/** A number with a custom rule. The message shows the number. */
export function numberThat(expectation: string, isRight: (value: number) => boolean) {
  return z.custom<number>((value) => typeof value === "number" && isRight(value), {
    error: ({ input }) => `must be ${expectation}, not ${typeof input === "number" ? input : kindOf(input)}`,
  });
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

/** Rules that several options share. */
export const optionTypes = {
  boolean: z.boolean(),
  string: optionThat<string>(
    "a string that is not empty",
    (value) => typeof value === "string" && value.trim() !== "",
  ),
  function: optionThat<(...args: never) => unknown>("a function", (value) => typeof value === "function"),
  durationMs: numberThat("a number of milliseconds above 0", (value) => value > 0),
  waitMs: numberThat("a number of milliseconds from 0", (value) => value >= 0),
  count: numberThat("an integer from 0", isCount),
  countOrAll: numberThat("an integer from 0, or Infinity", (value) => isCount(value) || value === Infinity),
  positiveCount: numberThat("an integer from 1", (value) => isCount(value) && value > 0),
  priority: numberThat("an integer from 0 (first) to 9 (last)", (value) => isCount(value) && value <= 9),
  // Known by its methods: a polyfill's signal and one of another realm are signals too.
  signal: optionThat<AbortSignal>(
    "an AbortSignal (a controller's `signal`)",
    (value) => hasMethods(value, "addEventListener", "removeEventListener") && "aborted" in value,
  ),
};

/** Options without the keys that are `undefined`. */
export type Given<Options> = { [Name in keyof Options]: Exclude<Options[Name], undefined> };

/** The given options, or a `ConfigurationError` that names each wrong option, the rule and the way out. */
export function parseOptions<Schema extends z.ZodObject>(
  schema: Schema,
  options: unknown,
  subject: string,
): Given<z.output<Schema>> {
  if (isRecord(options)) rejectLost(options, subject);
  const given = Object.entries(parseOption(schema, options, subject)).filter(
    ([, value]) => value !== undefined,
  );
  // Safe: the schema has just accepted them.
  return Object.fromEntries(given) as Given<z.output<Schema>>;
}

/** Refuses an object whose content is not in properties, such as a Map: it would be taken for an empty object. */
export function rejectLost(given: object, subject: string): void {
  const kind = contentLost(given);
  if (kind === undefined) return;
  const wayOut = kind === "an AbortSignal" ? ": write { signal }" : awaitIt(given);
  throw new ConfigurationError(`${subject} must be a plain object, not ${kind}${wayOut}.`);
}

export function parseOption<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  subject: string,
): z.output<Schema> {
  const { error, data } = schema.safeParse(value, { error: explain });
  if (!error) return data;
  const issues = toIssues(error);
  const problems = issues.filter(({ code }) => code !== "unrecognized_keys");
  const unknown = issues
    .filter(({ code }) => code === "unrecognized_keys")
    .map(({ path }) => String(path.at(-1)));
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const messages = problems.map(({ path, message }) => `${nameOf(path, subject)} ${message}.`);
  throw new ConfigurationError([...messages, ...unknownOptions(unknown, names, subject)].join(" "));
}

function nameOf(path: readonly (string | number)[], subject: string): string {
  const name = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("");
  return name === "" ? subject : name.replace(/^\./, "");
}

function unknownOptions(unknown: readonly string[], names: readonly string[], subject: string): string[] {
  const misspelled = unknown.filter((name) => nameMeant(name, names));
  const others = unknown.filter((name) => !misspelled.includes(name));
  const messages = misspelled.map(
    (name) =>
      `${subject}: there is no option ${JSON.stringify(name)}; did you mean ${nameMeant(name, names)}?`,
  );
  if (others.length > 0) {
    // An object of another kind may have hundreds of properties.
    const shown = others.slice(0, 5).map((name) => JSON.stringify(name));
    if (others.length > 5) shown.push("and others");
    messages.push(`${subject}: there is no option ${shown.join(", ")}; the options are ${names.join(", ")}.`);
  }
  return messages;
}

/** The message of a value that a function of the user has thrown. */
export function errorMessage(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  return isObject(thrown) ? kindOf(thrown) : String(thrown);
}

/** The class of what a function of the user has thrown, where its message may hold a secret. */
export function errorType(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : typeof thrown;
}

/**
 * Handles the rejection of a promise that a function of the user returns instead of a value: unhandled, it would end the
 * process. The promise may be of another realm. A lazy one, such as a list of this package, is not started.
 */
export function ignoreRejection(
  result: unknown,
  onRejection: (error: unknown) => void = () => undefined,
): void {
  if (Object.prototype.toString.call(result) === "[object Promise]")
    Promise.resolve(result).catch(onRejection);
}
