import * as z from "zod";
// By its own entry: reached through `z.core`, a bundler keeps all of it, 50 languages included.
import * as core from "zod/v4/core";

import type { FoundIssue, UnknownKeyHint } from "../fields/field.ts";
import { refuseHiddenKeys } from "../fields/hidden-keys.ts";
import { lossyKind } from "../fields/lossy-kind.ts";
import { describeNameGiven, describeUnknownKey, isLeftOut } from "../fields/unknown-key.ts";
import { findUnreadable, unreadable } from "../fields/unreadable.ts";
import { show, type Shown } from "./field-leaf.ts";
import { hearOut } from "../hear-out.ts";
import { isObject, isRecord } from "../is-object.ts";

interface FieldObjectDef extends Shown<z.core.$ZodObjectDef> {
  readonly hint?: UnknownKeyHint | undefined;
  /** Of an answer: whatever else it is, or holds, is kept. */
  readonly isKept?: boolean | undefined;
}

// An assertion signature has to be written down to be called; the assertion itself is not needed here.
const initZodObject: (schema: z.ZodObject, def: z.core.$ZodObjectDef) => void = z.ZodObject.init;

/**
 * A zod object that closes four gaps of zod's own: it refuses what only looks like an object (a Map, a Date),
 * it reports a getter that throws instead of letting it escape, it reports keys that zod would drop without a word
 * (`__proto__`, symbols), and it gives each unknown key an issue with that key as its path.
 * `.extend`, `.pick`, `.omit` and `.partial` keep this type, because they build with the same constructor.
 */
export const FieldObject = core.$constructor<z.ZodObject, FieldObjectDef>(
  "AudienceFieldObject",
  (schema, def) => {
    initZodObject(schema, def);
    show(schema, def);
    const parse = schema._zod.parse;
    const read: typeof parse = (payload, context) => {
      const input: unknown = payload.value;
      if (def.isKept || !isRecord(input)) return parse(payload, context);
      const kind = lossyKind(input);
      if (kind !== undefined) {
        const message = `must be a plain object, not ${kind}`;
        payload.issues.push({ code: "invalid_type", expected: "object", input, inst: schema, message });
        return payload;
      }
      const result = parse(payload, context);
      return result instanceof Promise
        ? result.then((settled) => review(settled, input, def))
        : review(result, input, def);
    };
    schema._zod.parse = (payload, context) => {
      const input: unknown = payload.value;
      try {
        return read(payload, context);
      } catch (error) {
        const names = Object.keys(def.shape);
        const issue = findUnreadable(input, names);
        const again = (copy: object) => read({ value: copy, issues: [] }, context);
        // Not the input's doing: an error thrown by a check that somebody added.
        if (issue === undefined && (!isObject(input) || throwsAgain(input, names, again))) throw error;
        ours(payload.issues).push(issue ?? unreadable());
        return payload;
      }
    };
  },
);

/** Whether it is a check that throws, and not a getter that did: what is read here is a copy, which has none. */
function throwsAgain(input: object, names: readonly string[], read: (copy: object) => unknown): boolean {
  const copy = Object.create(null) as Record<string, unknown>;
  try {
    for (const key in input) copy[key] = Reflect.get(input, key);
    // Of a class its getters, which are not enumerable.
    for (const name of names) if (name in input) copy[name] = Reflect.get(input, name);
  } catch {
    return false;
  }
  try {
    hearOut(read(copy));
    return false;
  } catch {
    return true;
  }
}

/** What zod has found, one issue for each unknown key, and what it has passed over. */
function review(payload: z.core.ParsePayload, input: object, def: FieldObjectDef): z.core.ParsePayload {
  const issues = ours(payload.issues);
  if (issues.length > 0) {
    const names = Object.keys(def.shape);
    payload.issues = issues.flatMap((issue) => {
      if (issue.code !== "unrecognized_keys" || issue.path !== undefined)
        return nameGiven(issue, input, names);
      // `__proto__` is reported with the hidden keys; what is undefined is left out, and nothing is sent of it.
      // True: an issue of this kind names the keys.
      const unknown = issue.keys!.filter((key) => key !== "__proto__" && !isLeftOut(input, key));
      return unknown.map((key) => {
        const message = describeUnknownKey(key, input, names, def.hint);
        return Object.assign({}, issue, { keys: [key], path: [key], message });
      });
    }) as typeof payload.issues;
  }
  refuseHiddenKeys(input, { value: payload.value, issues: ours(payload.issues) });
  return payload;
}

/** Where a field is missing, names the key that was given in its place: `first_name` for `firstName`. */
function nameGiven(issue: FoundIssue, input: object, names: readonly string[]): FoundIssue {
  // True: an issue of a field leads to it.
  const [name, ...deeper] = issue.path!;
  if (typeof name !== "string" || deeper.length > 0 || name in input) return issue;
  const message = describeNameGiven(name, input, names);
  return message === undefined ? issue : { ...issue, message };
}

/** zod's issues by our name for them. True: an issue of zod's has what ours has. */
function ours(issues: z.core.$ZodRawIssue[]): FoundIssue[] {
  return issues as unknown as FoundIssue[];
}
