import * as z from "zod";
// By its own entry: reached through `z.core`, a bundler keeps all of it, 50 languages included.
import * as core from "zod/v4/core";

import { explain } from "./explain.ts";
import { refuseHiddenKeys } from "./hidden-keys.ts";
import { jsonValue } from "./json-value.ts";
import { lossyKind } from "./lossy-kind.ts";
import { nameMeant } from "./name-hint.ts";
import { findUnreadable } from "./unreadable.ts";

/** Says more of an unknown key than that it is unknown, where there is more to say. */
export type UnknownKeyHint = (key: string, value: unknown) => string | undefined;

/** An object of the fields in `shape` and no others. Each unknown key is an issue of its own, with that key as its path. */
export function strictFields<Shape extends z.core.$ZodLooseShape>(shape: Shape, hint?: UnknownKeyHint) {
  const error = (issue: z.core.$ZodRawIssue) => describeUnknown(issue, hint) ?? explain(issue);
  const schema = new FieldObject({ type: "object", shape, catchall: z.never(), error });
  // True: shape and catchall are those of the definition.
  return schema as unknown as z.ZodObject<z.core.util.Writeable<Shape>, z.core.$strict>;
}

/** An object of the fields in `shape`; any other is passed on, as long as JSON can carry it. */
export function looseFields<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const schema = new FieldObject({ type: "object", shape, catchall: jsonValue(), error: explain });
  // True: the shape is that of the definition, and the catchall lets unknown keys through.
  return schema as unknown as z.ZodObject<z.core.util.Writeable<Shape>, z.core.$loose>;
}

// An assertion signature has to be written down to be called; the assertion itself is not needed here.
const initZodObject: (schema: z.ZodObject, def: z.core.$ZodObjectDef) => void = z.ZodObject.init;

/**
 * A zod object that closes four gaps of zod's own: it refuses what only looks like an object (a Map, a Date),
 * it reports a getter that throws instead of letting it escape, it reports keys that zod would drop without a word
 * (`__proto__`, symbols), and it gives each unknown key an issue with that key as its path.
 * `.extend`, `.pick`, `.omit` and `.partial` keep this type, because they build with the same constructor.
 */
const FieldObject = core.$constructor<z.ZodObject, z.core.$ZodObjectDef>(
  "AudienceFieldObject",
  (schema, def) => {
    initZodObject(schema, def);
    const parse = schema._zod.parse;
    const read: typeof parse = (payload, context) => {
      const input: unknown = payload.value;
      if (typeof input !== "object" || input === null || Array.isArray(input)) return parse(payload, context);
      const kind = lossyKind(input);
      if (kind !== undefined) {
        const message = `must be a plain object, not ${kind}`;
        payload.issues.push({ code: "invalid_type", expected: "object", input, inst: schema, message });
        return payload;
      }
      const result = parse(payload, context);
      return result instanceof Promise
        ? result.then((settled) => review(settled, input, schema))
        : review(result, input, schema);
    };
    schema._zod.parse = (payload, context) => {
      const input: unknown = payload.value;
      try {
        return read(payload, context);
      } catch (error) {
        const issue = findUnreadable(input, Object.keys(schema.shape));
        // Not the input's doing: an error thrown by a check that somebody added.
        if (issue === undefined) throw error;
        payload.issues.push(issue);
        return payload;
      }
    };
  },
);

/** What zod has found, one issue for each unknown key, and what it has passed over. */
function review(payload: z.core.ParsePayload, input: object, schema: z.ZodObject): z.core.ParsePayload {
  if (payload.issues.length > 0) {
    payload.issues = payload.issues.flatMap((issue) => {
      if (issue.code !== "unrecognized_keys" || issue.path !== undefined)
        return nameGiven(issue, input, schema);
      // `__proto__` is reported with the hidden keys; what is undefined is left out, and nothing is sent of it.
      const unknown = issue.keys.filter((key) => key !== "__proto__" && !isLeftOut(input, key));
      return unknown.map((key) => Object.assign({}, issue, { keys: [key], path: [key] }));
    });
  }
  refuseHiddenKeys(input, payload);
  return payload;
}

/** Where a field is missing, names the key that was given in its place: `first_name` for `firstName`. */
function nameGiven(issue: z.core.$ZodRawIssue, input: object, schema: z.ZodObject): z.core.$ZodRawIssue {
  const [name, ...deeper] = issue.path ?? [];
  if (typeof name !== "string" || deeper.length > 0 || name in input) return issue;
  const others = Object.keys(input).filter((key) => !Object.hasOwn(schema.shape, key));
  const given = nameMeant(name, others);
  return given === undefined
    ? issue
    : { ...issue, message: `required; "${given}" was given: write "${name}"` };
}

function describeUnknown(issue: z.core.$ZodRawIssue, hint: UnknownKeyHint | undefined): string | undefined {
  if (issue.code !== "unrecognized_keys") return undefined;
  const [key = ""] = issue.keys;
  const meant = issue.inst instanceof FieldObject ? nameMeant(key, Object.keys(issue.inst.shape)) : undefined;
  if (meant !== undefined) return `unknown field: write "${meant}"`;
  return (
    hint?.(key, valueOf(issue.input, key)) ?? "unknown field: the service refuses a request that holds it"
  );
}

/** Without running a getter, which could throw: a key that has one is given. */
function isLeftOut(input: object, key: string): boolean {
  const property = Object.getOwnPropertyDescriptor(input, key);
  return property !== undefined && "value" in property && property.value === undefined;
}

/** Without running a getter, which could throw. */
function valueOf(input: unknown, key: string): unknown {
  return Object.getOwnPropertyDescriptor(Object(input), key)?.value;
}
