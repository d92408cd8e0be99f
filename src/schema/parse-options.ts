import * as z from "zod";
import { ConfigurationError } from "../errors.ts";
import { awaitIt, contentLost, kindNamed, mustBe, sameName } from "../values/in-words.ts";
import { hasMethods, hasProperty, isRecord, withoutPrototype } from "../values/predicates.ts";
import { explain } from "./validate.ts";

// zod would skip a rule over several options beside a wrong one.
const reportsAll = { abort: false };

/** An option with a custom rule. The message does not show the value: it could be a key. */
export function optionThat<Value>(expectation: string, isRight: (value: unknown) => boolean) {
  return z.custom<Value>(isRight, {
    ...reportsAll,
    error: ({ input }) => mustBe(expectation, input),
  });
}

export function functionThat<Value>() {
  return optionThat<Value>("a function", (value) => typeof value === "function");
}

/** A number with a custom rule. The message shows the number. */
export function numberThat(expectation: string, isRight: (value: number) => boolean) {
  return optionThat<number>(expectation, (value) => typeof value === "number" && isRight(value));
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

/** Types of options: rules that several options share. */
export const optionTypes = {
  boolean: z.boolean(),
  string: optionThat<string>(
    "a string that is not empty",
    (value) => typeof value === "string" && value.trim() !== "",
  ),
  function: functionThat<(...args: never) => unknown>(),
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

/**
 * The options with their defaults, or a `ConfigurationError` that names each wrong option, the rule and the way out.
 * `nameOf` names an option that has another source.
 */
export function parseOptions<Schema extends z.ZodObject>(
  schema: Schema,
  options: unknown,
  subject: string,
  nameOf?: (option: string) => string,
): Given<z.output<Schema>> {
  const parsedOptions = parseOption(schema, ownOptions(schema, options, subject), subject, nameOf);
  // Safe: without the keys that are undefined.
  return withoutUndefined(parsedOptions) as Given<z.output<Schema>>;
}

/** A copy of the given options, for a schema that is to judge them: a getter may give another value the next time. */
export function copyOptions<Options extends object>(
  schema: z.ZodObject,
  options: unknown,
  subject: string,
): Options {
  // Safe: the schema judges the options before they are used.
  return withoutUndefined(ownOptions(schema, options, subject)) as Options;
}

/**
 * Each option as an own property, undefined if it was not given: so no rule of a schema reads one from `Object.prototype`.
 * An instance of a class may inherit options. An object whose content is not in properties, such as a Map, is refused: it
 * would be taken for an empty one.
 */
function ownOptions(schema: z.ZodObject, options: unknown, subject: string): object {
  if (!isRecord(options)) throw new ConfigurationError(`${subject} ${mustBe("an object", options)}.`);
  const names = new Set(Object.keys(schema.shape));
  const problem = objectProblem(options);
  // A class may give all of its options by getters.
  if (problem !== undefined && ![...names].some((name) => hasProperty(options, name)))
    throw new ConfigurationError(`${subject} ${problem}.`);
  for (const name in options) if (hasProperty(options, name)) names.add(name);
  const optionOf = (name: string) => (hasProperty(options, name) ? options[name] : undefined);
  return withoutPrototype(Object.fromEntries([...names].map((name) => [name, optionOf(name)])));
}

function withoutUndefined(options: object): object {
  const givenOptions = Object.entries(options).filter(([, value]) => value !== undefined);
  return withoutPrototype(Object.fromEntries(givenOptions));
}

/** The problem of an options object whose content is not in properties. */
export function objectProblem(options: object): string | undefined {
  const kind = contentLost(options);
  if (kind === undefined) return undefined;
  const wayOut = kind === "an AbortSignal" ? ": write { signal }" : awaitIt(options);
  return `must be a plain object, not ${kind}${wayOut}`;
}

export function parseOption<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  subject: string,
  nameOf?: (option: string) => string,
): z.output<Schema> {
  const { success, error, data } = schema.safeParse(value, { error: explainOption });
  if (!success) throw new ConfigurationError(describeProblems(error.issues, subject, nameOf));
  return data;
}

/** Explains the broken rule of an option, also of one that there is not, in the options or in an object among them. */
export const explainOption: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === "invalid_type") return mustBe(kindNamed(issue.expected), issue.input);
  if (issue.code !== "unrecognized_keys") return explain(issue);
  // Safe: each schema of options that knows its keys is an object's.
  return unknownOptions(issue.keys, Object.keys((issue.inst as z.ZodObject).shape));
};

function unknownOptions(unknown: readonly string[], names: readonly string[]): string {
  const misspelled = unknown.filter((name) => sameName(name, names));
  const otherNames = unknown.filter((name) => !misspelled.includes(name));
  const sentences = misspelled.map(
    (name) => `there is no option ${JSON.stringify(name)}; did you mean ${sameName(name, names)}?`,
  );
  if (otherNames.length > 0) {
    // An object of another kind, given as options, may have hundreds of properties.
    const shownNames = otherNames.slice(0, 5).map(shownName);
    if (otherNames.length > 5) shownNames.push("and others");
    sentences.push(`there is no option ${shownNames.join(", ")}; the options are ${names.join(", ")}`);
  }
  return sentences.join("\n");
}

/** The name of an option: of letters, as such names are. Any other may be a key that stands in the wrong place. */
function shownName(name: string): string {
  return /^[a-z]{1,20}\d?$/i.test(name)
    ? JSON.stringify(name)
    : `with this name of ${name.length} characters`;
}

/** The problems of all options, in one message. */
function describeProblems(
  issues: readonly z.core.$ZodIssue[],
  subject: string,
  nameOf = (option: string): string => option,
): string {
  const sentences = issues.flatMap(({ path, message }) => {
    const [option, ...inner] = path;
    const steps = inner.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`));
    const name = option === undefined ? subject : nameOf(String(option)) + steps.join("");
    // A line that begins with `there` or a name in quotes is about a part of the option.
    return message
      .split("\n")
      .map((line) => `${name}${/^("|there )/.test(line) ? ":" : ""} ${line}${line.endsWith("?") ? "" : "."}`);
  });
  return sentences.join(" ");
}
