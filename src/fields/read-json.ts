import { contentLost } from "./content-lost.ts";
import { kindOf } from "./kind-of.ts";
import { hiddenKeys } from "./hidden-keys.ts";
import { isDate } from "./is-date.ts";
import { isObject } from "../is-object.ts";
import { unreadableRule } from "./unreadable.ts";

/** Where a value is, and what is wrong with it there. */
export type Report = (path: (string | number)[], message: string) => void;

// Bounds of our own: without them a value that refers to itself in new objects, or to one object a billion
// times, would hang the process. JSON readers give up at far less depth.
const maxDepth = 1_000;
const maxValues = 200_000;
const maxReports = 100;

/**
 * A copy of `input` as JSON would carry it, each property read once, so that what was judged is what is sent.
 *
 * Reported, never dropped: `null`, `undefined` in an array, numbers that are not finite, functions, symbols, BigInt,
 * cycles, objects whose content JSON would lose (Map, Set, Error, typed array, …), `__proto__` as a name, and whatever
 * throws when it is read. A value with `toJSON` (a Date) counts as what that gives.
 */
export function readJson(input: unknown, report: Report): unknown {
  const reading: Reading = { report, path: [], ancestors: new Set(), values: 0, reports: 0 };
  return readValue(input, reading);
}

interface Reading {
  report: Report;
  path: (string | number)[];
  ancestors: Set<object>;
  values: number;
  reports: number;
}

function readValue(value: unknown, reading: Reading): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "object":
      return value === null
        ? refuse("null is refused: leave it out to send nothing", reading)
        : tryObject(value, reading);
    default:
      if (Number.isFinite(value)) return value;
      return refuse(`JSON cannot carry ${kindOf(value)}`, reading);
  }
}

function refuse(message: string, reading: Reading): undefined {
  reading.reports += 1;
  if (reading.reports <= maxReports) reading.report([...reading.path], message);
  return undefined;
}

function isOver(reading: Reading): boolean {
  return reading.reports >= maxReports;
}

function tryObject(value: object, reading: Reading): unknown {
  if (reading.ancestors.has(value)) return refuse("refers to itself, which JSON cannot carry", reading);
  if (reading.ancestors.size >= maxDepth)
    return refuseAtStart(`is nested deeper than ${maxDepth} levels`, reading);
  const depth = reading.path.length;
  reading.ancestors.add(value);
  try {
    return readObject(value, reading);
  } catch {
    return refuse(unreadableRule, reading);
  } finally {
    reading.path.length = depth;
    reading.ancestors.delete(value);
  }
}

/** Of the whole value, and the last that is said: a path of a thousand keys helps nobody. */
function refuseAtStart(message: string, reading: Reading): undefined {
  reading.path.length = 0;
  refuse(message, reading);
  reading.reports = maxReports;
  return undefined;
}

function readObject(value: object, reading: Reading): unknown {
  const toJson: unknown = Reflect.get(value, "toJSON");
  if (typeof toJson !== "function") return readContent(value, reading);
  const rendered: unknown = Reflect.apply(toJson, value, [String(reading.path.at(-1) ?? "")]);
  if (rendered === null && isDate(value)) return refuse("is an invalid Date", reading);
  if (rendered === undefined) return refuse("its toJSON gives nothing", reading);
  // As JSON.stringify does: what toJSON gives is not asked for its own toJSON again.
  return isObject(rendered) ? readContent(rendered, reading) : readValue(rendered, reading);
}

function readContent(value: object, reading: Reading): unknown {
  if (Array.isArray(value)) return readArray(value, reading);
  const keys = Object.keys(value);
  const loss = contentLost(value);
  return loss === undefined
    ? readProperties(value, keys, reading)
    : refuse(`JSON cannot carry ${loss}`, reading);
}

function readArray(items: readonly unknown[], reading: Reading): unknown[] {
  const copy: unknown[] = [];
  for (let index = 0; index < items.length && !isOver(reading); index += 1) {
    reading.path.push(index);
    const item = readProperty(items, index, reading);
    if (item === undefined) refuse("undefined in an array would become null: leave the item out", reading);
    else copy.push(readValue(item, reading));
    reading.path.pop();
  }
  return copy;
}

function readProperties(value: object, keys: readonly string[], reading: Reading): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [key, problem] of hiddenKeys(value)) {
    reading.path.push(key);
    refuse(problem, reading);
    reading.path.pop();
  }
  for (const key of keys) {
    if (isOver(reading)) break;
    if (key === "__proto__") continue;
    reading.path.push(key);
    const property = readProperty(value, key, reading);
    if (property !== undefined) copy[key] = readValue(property, reading);
    reading.path.pop();
  }
  return copy;
}

// What stands for a property that is refused; the copy that holds it is not used.
const refused = "";

function readProperty(value: object, key: string | number, reading: Reading): unknown {
  reading.values += 1;
  if (reading.values > maxValues) {
    refuseAtStart(`holds more than ${maxValues} values`, reading);
    return refused;
  }
  try {
    return Reflect.get(value, key);
  } catch {
    refuse(unreadableRule, reading);
    return refused;
  }
}
