import type { FoundIssue } from "./field.ts";
import { isArray } from "./is-array.ts";
import { isObject } from "../is-object.ts";

/** What is said where reading the input threw. Not what was thrown: that is the input's own, and may hold anything. */
export const unreadableRule = "cannot be read: a getter or a proxy throws";

/**
 * An issue at the first key of `input` whose reading throws, or at `input` itself where not even its keys can be read;
 * nothing where all of it can be read. `names` are keys that may be asked for beside its own.
 */
export function findUnreadable(input: unknown, names: readonly string[] = []): FoundIssue | undefined {
  /* v8 ignore next -- @preserve to read anything else throws nothing */
  if (!isObject(input)) return undefined;
  let at: string | undefined;
  try {
    Reflect.ownKeys(input);
    Object.getPrototypeOf(input);
    Object.prototype.toString.call(input);
    for (at in input) readKey(input, at);
    for (at of names) readKey(input, at);
    return undefined;
  } catch {
    return unreadable(at === undefined ? [] : [isArray(input) ? Number(at) : at]);
  }
}

/** What throws but once is unreadable all the same. */
export function unreadable(path: (string | number)[] = []): FoundIssue {
  // `continue: false` keeps rules over several fields from reading it again.
  return { code: "custom", message: unreadableRule, path, continue: false };
}

function readKey(input: object, key: string): void {
  Reflect.has(input, key);
  Object.getOwnPropertyDescriptor(input, key);
  Reflect.get(input, key);
}
