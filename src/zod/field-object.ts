import * as z from "zod";

import type { Payload, UnknownKeyHint } from "../fields/field.ts";
import { refuseHiddenKeys } from "../fields/hidden-keys.ts";
import { refuseLossy } from "../fields/lossy-kind.ts";
import { describeUnknownKey, isLeftOut, nameWhatWasGiven } from "../fields/unknown-key.ts";
import { findUnreadable, unreadable } from "../fields/unreadable.ts";
import { fieldClass } from "./field-class.ts";
import { hearOut } from "../hear-out.ts";
import { isObject, isRecord } from "../is-object.ts";

interface FieldObjectDef extends z.core.$ZodObjectDef {
  readonly hint?: UnknownKeyHint | undefined;
  /** Of an answer: whatever else it is, or holds, is kept. */
  readonly isKept?: boolean | undefined;
}

/**
 * A zod object that closes four gaps of zod's own: it refuses what only looks like an object (a Map, a Date),
 * it reports a getter that throws instead of letting it escape, it reports keys that zod would drop without a word
 * (`__proto__`, symbols), and it gives each unknown key an issue with that key as its path.
 * `.extend`, `.pick`, `.omit` and `.partial` keep this type, because they build with the same constructor.
 */
export const FieldObject = fieldClass<z.ZodObject, FieldObjectDef>(
  "AudienceFieldObject",
  z.ZodObject,
  (schema, def) => {
    const parse = schema._zod.parse;
    const read: typeof parse = (payload, context) => {
      const input: unknown = payload.value;
      if (def.isKept || !isRecord(input)) return parse(payload, context);
      if (refuseLossy(input, ours(payload))) return payload;
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
        ours(payload).issues.push(issue ?? unreadable());
        return payload;
      }
    };
  },
);

/** Whether it is a check that throws, and not a getter that did: what is read here is a copy, which has none. */
function throwsAgain(input: object, names: readonly string[], read: (copy: object) => unknown): boolean {
  const copy = Object.create(null) as Record<string, unknown>;
  let isCopied = false;
  try {
    for (const key in input) copy[key] = Reflect.get(input, key);
    // Of a class its getters, which are not enumerable.
    for (const name of names) if (name in input) copy[name] = Reflect.get(input, name);
    isCopied = true;
    hearOut(read(copy));
    return false;
  } catch {
    return isCopied;
  }
}

/** What zod has found, one issue for each unknown key, and what it has passed over. */
function review(payload: z.core.ParsePayload, input: object, def: FieldObjectDef): z.core.ParsePayload {
  const ourPayload = ours(payload);
  if (payload.issues.length > 0) {
    const names = Object.keys(def.shape);
    ourPayload.issues = ourPayload.issues.flatMap((issue) => {
      if (issue.path !== undefined) {
        nameWhatWasGiven(issue, input, names);
        return issue;
      }
      // `__proto__` is reported with the hidden keys; what is undefined is left out, and nothing is sent of it.
      // True: an issue of this kind names the keys.
      const unknown = issue.keys!.filter((key) => key !== "__proto__" && !isLeftOut(input, key));
      return unknown.map((key) => {
        const message = describeUnknownKey(key, input, names, def.hint);
        return Object.assign({}, issue, { keys: [key], path: [key], message });
      });
    });
  }
  refuseHiddenKeys(input, ourPayload);
  return payload;
}

/** zod's payload by our name for it. True: it has what ours has, and an issue of ours is one of zod's. */
function ours(payload: z.core.ParsePayload): Payload {
  return payload as unknown as Payload;
}
