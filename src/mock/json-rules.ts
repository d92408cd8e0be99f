/** The rules for JSON values, which bodies of requests, options and seeds share. */

import { isUrl } from "./string-formats.ts";

/** One problem of a value. */
export interface Problem {
  /** The path of the field, such as `custom_properties.plan`; empty for the whole body. */
  path: string;
  /** The broken rule. */
  message: string;
}

/** Checks one value and adds its problems. */
export type Rule = (value: unknown, path: string, problems: Problem[]) => void;

/** Every problem of a value. The path is its name; empty for the body of a request. */
export function problemsOf(value: unknown, rule: Rule, path = ""): Problem[] {
  const problems: Problem[] = [];
  rule(value, path, problems);
  return problems;
}

/** The messages of several problems in one. */
export function inOneMessage(problems: readonly Problem[]): string {
  return problems.map(({ message }) => message).join("; ");
}

/** Refuses an option of the mock with every problem at once: a misspelt one would silently have no effect. */
export function checkOption(name: string, value: unknown, rule: Rule): void {
  const problems = problemsOf(value, rule, name);
  if (problems.length > 0) throw new TypeError(inOneMessage(problems));
}

/** An object with names and values: no array, no Promise, no Map. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return tagOf(value) === "Object";
}

const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value) || isObject(value)) return Array.isArray(value) ? "an array" : "an object";
  return `a ${typeof value === "object" ? tagOf(value) : typeof value}`;
}

function at(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  return path === "" ? key : `${path}.${key}`;
}

/** Adds a problem of the value at this path. */
export function note(problems: Problem[], path: string, message: string): void {
  problems.push({ path, message: path === "" ? `the body ${message}` : `${path} ${message}` });
}

/** A value that `accepts` must accept. */
export function that(accepts: (value: unknown) => boolean, must: string): Rule {
  return (value, path, problems) => {
    if (!accepts(value)) note(problems, path, must);
  };
}

export function enumOf(...choices: readonly unknown[]): Rule {
  return that((value) => choices.includes(value), `must be one of ${choices.join(", ")}`);
}

export const number = that(Number.isFinite, "must be a number");
/** How many, without a limit if infinite. */
export const countFrom = (min: number): Rule =>
  that(
    (value) => value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && Number(value) >= min),
    `must be an integer from ${min}, or Infinity`,
  );
export const fromOne = that(
  (value) => Number.isSafeInteger(value) && Number(value) >= 1,
  "must be an integer from 1",
);
export const aFunction = that((value) => typeof value === "function", "must be a function");

/** Milliseconds that a timer can wait. */
export function isDuration(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value < 2 ** 31;
}
export const duration = that(isDuration, "must be milliseconds from 0");

/** A URL to which paths can be appended. */
export const baseUrl = that(
  (value) => typeof value === "string" && /^[^?#]*$/.test(value) && isUrl(value),
  "must be a base URL, for example https://api.example.com",
);

export const boolean: Rule = (value, path, problems) => {
  if (typeof value !== "boolean") note(problems, path, `must be a boolean, not ${kindOf(value)}`);
};

/** A string whose length is counted in code points: an emoji is one character. */
export function string({
  min = 0,
  max = Number.POSITIVE_INFINITY,
}: { min?: number; max?: number } = {}): Rule {
  return (value, path, problems) => {
    if (typeof value !== "string") return note(problems, path, `must be a string, not ${kindOf(value)}`);
    if (min === 0 && value.length <= max) return;
    const { length } = [...value];
    if (length < min) note(problems, path, `must have at least ${min} characters, has ${length}`);
    if (length > max) note(problems, path, `must have at most ${max} characters, has ${length}`);
  };
}

export const nonEmptyString = string({ min: 1 });

/** A string that `accepts` must accept. */
export function stringThat(accepts: (value: string) => boolean, must: string): Rule {
  return (value, path, problems) => {
    if (typeof value !== "string") return note(problems, path, `must be a string, not ${kindOf(value)}`);
    if (!accepts(value)) note(problems, path, must);
  };
}

/** Any JSON value that holds no null, at any depth. */
export const anythingButNull: Rule = (value, path, problems) => {
  if (value === null) return note(problems, path, "must not be null");
  if (typeof value !== "object") return;
  for (const [key, item] of Object.entries(value)) anythingButNull(item, at(path, key), problems);
};

export function arrayOf(item: Rule, { min = 0 }: { min?: number } = {}): Rule {
  return (value, path, problems) => {
    if (!Array.isArray(value)) return note(problems, path, `must be an array, not ${kindOf(value)}`);
    if (value.length < min) note(problems, path, `must have at least ${min} item`);
    for (const [index, entry] of value.entries()) item(entry, at(path, index), problems);
  };
}

/** An object with any keys, and one rule for all values. */
export function mapOf(item: Rule, { maxKeys = Number.POSITIVE_INFINITY }: { maxKeys?: number } = {}): Rule {
  return (value, path, problems) => {
    if (!isObject(value)) return note(problems, path, `must be an object, not ${kindOf(value)}`);
    const entries = Object.entries(value);
    if (entries.length > maxKeys)
      note(problems, path, `must have at most ${maxKeys} keys, has ${entries.length}`);
    for (const [key, entry] of entries) item(entry, at(path, key), problems);
  };
}

/** An object with these fields. Without a rule for unknown keys they are refused. */
export function object(
  fields: Readonly<Record<string, Rule>>,
  { required = [], unknownKeys }: { required?: readonly string[]; unknownKeys?: Rule } = {},
): Rule {
  const refused = that(() => false, `is not a recognized field; there are ${Object.keys(fields).join(", ")}`);
  return (value, path, problems) => {
    if (!isObject(value)) return note(problems, path, `must be an object, not ${kindOf(value)}`);
    for (const key of required) if (value[key] === undefined) note(problems, at(path, key), "is required");
    for (const [key, entry] of Object.entries(value)) {
      const rule = Object.hasOwn(fields, key) ? fields[key] : unknownKeys;
      if (entry !== undefined) (rule ?? refused)(entry, at(path, key), problems);
    }
  };
}
