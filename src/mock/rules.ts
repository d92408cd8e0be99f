import { isObject } from "./check.ts";

/** One problem of a request. */
export interface Problem {
  /** The path of the field, such as `custom_properties.plan`; empty for the whole body. */
  path: string;
  /** The broken rule. */
  message: string;
}

/** The refusal of a request with an error status. */
export class Refusal extends Error {
  readonly status: number;
  readonly problems: readonly Problem[];
  /** Whether the contact was written before the refusal, as by a 404 of add-to-list. */
  readonly applied: boolean;

  constructor(status: number, message: string, problems: readonly Problem[] = [], applied = false) {
    super(message);
    this.name = "Refusal";
    this.status = status;
    this.problems = problems;
    this.applied = applied;
  }
}

/** The refusal of one field. */
export function refusalOf(path: string, message: string): Refusal {
  return new Refusal(400, message, [{ path, message }]);
}

/** Checks one JSON value and adds its problems. */
export type Rule = (value: unknown, path: string, problems: Problem[]) => void;

export const DOCUMENTED_LIMITS = {
  /** "Limits": characters, counted as code points. */
  name: 100,
  address: 255,
  phone: { min: 7, max: 20 },
  postalCode: { min: 3, max: 20 },
  /** "Limits": keys per request. */
  customProperties: 30,
} as const;

const kindOf = (value: unknown): string =>
  value === null
    ? "null"
    : Array.isArray(value)
      ? "an array"
      : typeof value === "object"
        ? "an object"
        : `a ${typeof value}`;

const at = (path: string, key: string | number): string => (path === "" ? String(key) : `${path}.${key}`);

function note(problems: Problem[], path: string, message: string): void {
  problems.push({ path, message: path === "" ? `the body ${message}` : `${path} ${message}` });
}

export function string({
  min = 0,
  max = Number.POSITIVE_INFINITY,
}: { min?: number; max?: number } = {}): Rule {
  return (value, path, problems) => {
    if (typeof value !== "string") return note(problems, path, `must be a string, not ${kindOf(value)}`);
    if (min === 0 && value.length <= max) return;
    // Code points: an emoji is one character.
    let length = 0;
    for (const _ of value) length += 1;
    if (length < min) note(problems, path, `must have at least ${min} characters, has ${length}`);
    if (length > max) note(problems, path, `must have at most ${max} characters, has ${length}`);
  };
}

/** A string that `accepts` must accept. */
export function stringThat(accepts: (value: string) => boolean, must: string): Rule {
  return (value, path, problems) => {
    if (typeof value !== "string") return note(problems, path, `must be a string, not ${kindOf(value)}`);
    if (!accepts(value)) note(problems, path, must);
  };
}

export function enumOf(...allowed: readonly string[]): Rule {
  return stringThat((value) => allowed.includes(value), `must be one of ${allowed.join(", ")}`);
}

export const boolean: Rule = (value, path, problems) => {
  if (typeof value !== "boolean") note(problems, path, `must be a boolean, not ${kindOf(value)}`);
};

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

export interface ObjectRule {
  fields: Readonly<Record<string, Rule>>;
  required?: readonly string[];
  /** The rule for keys that are not in `fields`. */
  unknownKeys: "refused" | Rule;
}

export function object({ fields, required = [], unknownKeys }: ObjectRule): Rule {
  return (value, path, problems) => {
    if (!isObject(value)) return note(problems, path, `must be an object, not ${kindOf(value)}`);
    for (const key of required) if (!Object.hasOwn(value, key)) note(problems, at(path, key), "is required");
    for (const [key, entry] of Object.entries(value)) {
      const rule = Object.hasOwn(fields, key) ? fields[key] : undefined;
      if (rule) rule(entry, at(path, key), problems);
      else if (unknownKeys === "refused") note(problems, at(path, key), "is not a recognized field");
      else unknownKeys(entry, at(path, key), problems);
    }
  };
}

/** Refuses with a 400 that names every problem at once. */
export function require(value: unknown, rule: Rule): void {
  const problems: Problem[] = [];
  rule(value, "", problems);
  refuseIfAny(problems);
}

function refuseIfAny(problems: readonly Problem[]): void {
  if (problems.length > 0)
    throw new Refusal(400, problems.map((problem) => problem.message).join("; "), problems);
}
