import type { Field, FoundIssue, Payload, Rule, Shape } from "./field.ts";
import { describeUnknownKey, isLeftOut, nameWhatWasGiven } from "./unknown-key.ts";
import { findHoles } from "./list.ts";
import { refuseHiddenKeys, unknownKey } from "./hidden-keys.ts";
import { findUnreadable, unreadable } from "./unreadable.ts";
import { isRecord } from "../is-object.ts";
import { refuseLossy } from "./lossy-kind.ts";

/**
 * Reads a value by its definition: the client's own reader, as small as what it reads. `audience-sdk/schemas` makes zod
 * schemas of the same definitions; both find the same, in the same order.
 */
export function readField(field: Field, payload: Payload): void {
  if (field.type === "optional") {
    if (payload.value !== undefined) readField(field.inner, payload);
    return;
  }
  readType(field, payload);
  if (field.rules) judgeBy(field.rules, payload);
  if (field.explain) for (const issue of payload.issues) issue.explain ??= field.explain;
}

function readType(field: Exclude<Field, { type: "optional" }>, payload: Payload): void {
  const { value: input, issues } = payload;
  switch (field.type) {
    case "unknown":
      return;
    case "enum":
      if (!(field.values as readonly unknown[]).includes(input)) {
        issues.push({ code: "invalid_value", values: field.values, input });
      }
      return;
    case "array":
      tryToRead(payload, {}, () => {
        if (Array.isArray(input)) readItems(field.item, input, payload);
        else issues.push({ code: "invalid_type", expected: "array", input });
      });
      return;
    case "object":
      tryToRead(payload, field.shape, () => {
        if (isRecord(input)) {
          readObject(field, input, payload);
        } else issues.push({ code: "invalid_type", expected: "object", input });
      });
      return;
    default:
      if (typeof input !== field.type || (typeof input === "number" && !Number.isFinite(input))) {
        issues.push({ code: "invalid_type", expected: field.type, input });
      }
  }
}

/** In order. A rule with `when` is asked even where something is wrong, unless that forbids it. */
function judgeBy(rules: readonly Rule[], payload: Payload): void {
  for (const { when, judge } of rules) {
    const isStopped = payload.issues.some(when ? forbids : isWrong);
    if (!isStopped && (!when || when(payload))) judge(payload);
  }
}

const isWrong = (issue: FoundIssue): boolean => issue.continue !== true;
const forbids = (issue: FoundIssue): boolean => issue.continue === false;

function readItems(item: Field, input: readonly unknown[], payload: Payload): void {
  const holes = findHoles(input);
  if (holes) {
    payload.issues.push(holes);
    return;
  }
  const copy: unknown[] = [];
  payload.value = copy;
  for (let at = 0; at < input.length; at += 1) copy.push(readPart(item, input[at], at, payload.issues));
}

type ObjectDefinition = Extract<Field, { type: "object" }>;

function readObject(field: ObjectDefinition, input: object, payload: Payload): void {
  if (field.others === "kept") {
    readNamed(field, input, payload);
    return;
  }
  if (refuseLossy(input, payload)) return;
  readNamed(field, input, payload);
  for (const issue of payload.issues) nameWhatWasGiven(issue, input, Object.keys(field.shape));
  refuseHiddenKeys(input, payload);
}

function readNamed(field: ObjectDefinition, input: object, payload: Payload): void {
  const { shape, others } = field;
  const { issues } = payload;
  const copy: Record<string, unknown> = {};
  payload.value = copy;
  for (const name in shape) {
    // True: it is one of its own names.
    const part = shape[name]!;
    if (part.type === "optional" && !(name in input)) continue;
    copy[name] = readPart(part, Reflect.get(input, name), name, issues);
  }
  for (const key in input) {
    if (Object.hasOwn(shape, key) || key === "__proto__") continue;
    if (others === "kept") copy[key] = Reflect.get(input, key);
    else if (others !== "refused") copy[key] = readPart(others, Reflect.get(input, key), key, issues);
    else if (!isLeftOut(input, key)) {
      issues.push(unknownKey(key, describeUnknownKey(key, input, Object.keys(shape), field.hint)));
    }
  }
}

/** The value of a field or item, whose problems are put among those of what holds it. */
function readPart(field: Field, value: unknown, key: string | number, issues: FoundIssue[]): unknown {
  const part: Payload = { value, issues: [] };
  readField(field, part);
  for (const issue of part.issues) {
    issue.path = [key, ...(issue.path ?? [])];
    issues.push(issue);
  }
  return part.value;
}

/** Whatever the input does while it is read, a getter that throws or a proxy, is an issue at the place. */
function tryToRead(payload: Payload, shape: Shape, read: () => void): void {
  const input = payload.value;
  try {
    read();
  } catch {
    payload.issues.push(findUnreadable(input, Object.keys(shape)) ?? unreadable());
  }
}
