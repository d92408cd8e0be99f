import * as z from "zod";

import { explain, nameOf } from "./explain.ts";
import { refuseHiddenKeys } from "./hidden-keys.ts";
import { jsonValue } from "./json-value.ts";
import { nameMeant } from "./name-hint.ts";

/** Says more of an unknown key than that it is unknown, where there is more to say. */
export type UnknownKeyHint = (key: string, value: unknown) => string | undefined;

/** An object of the fields in `shape` and no others. Each unknown key is an issue of its own, with that key as its path. */
export function strictFields<Shape extends z.core.$ZodLooseShape>(shape: Shape, hint?: UnknownKeyHint) {
  const def: FieldObjectDef = { type: "object", shape, catchall: z.never(), error: explain };
  if (hint !== undefined) def.hint = hint;
  // True: shape and catchall are those of the definition.
  return new FieldObject(def) as unknown as z.ZodObject<z.core.util.Writeable<Shape>, z.core.$strict>;
}

/** An object of the fields in `shape`; any other is passed on, as long as JSON can carry it. */
export function looseFields<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const def: FieldObjectDef = { type: "object", shape, catchall: jsonValue(), error: explain };
  // True: the shape is that of the definition, and the catchall lets unknown keys through.
  return new FieldObject(def) as unknown as z.ZodObject<z.core.util.Writeable<Shape>, z.core.$loose>;
}

interface FieldObjectDef extends z.core.$ZodObjectDef {
  hint?: UnknownKeyHint;
}

// An assertion signature has to be written down to be called; the assertion itself is not needed here.
const initZodObject: (schema: z.ZodObject, def: FieldObjectDef) => void = z.ZodObject.init;

/**
 * A zod object that closes four gaps of zod's own: it refuses what only looks like an object (a Map, a Date),
 * it reports a getter that throws instead of letting it escape, it reports keys that zod would drop without a word
 * (`__proto__`, symbols), and it gives each unknown key an issue with that key as its path.
 * `.extend`, `.pick`, `.omit` and `.partial` keep this type, because they build with the same constructor.
 */
const FieldObject = z.core.$constructor<z.ZodObject, FieldObjectDef>("AudienceFieldObject", (schema, def) => {
  initZodObject(schema, def);
  const parse = schema._zod.parse;
  const read: typeof parse = (payload, context) => {
    const input: unknown = payload.value;
    if (typeof input !== "object" || input === null || Array.isArray(input)) return parse(payload, context);
    const refusal = refuseKind(input);
    if (refusal !== undefined) {
      payload.issues.push({ code: "invalid_type", expected: "object", input, inst: schema, message: refusal });
      return payload;
    }
    const result = parse(payload, context);
    return result instanceof Promise
      ? result.then((settled) => review(settled, input, schema, def))
      : review(result, input, schema, def);
  };
  schema._zod.parse = (payload, context) => {
    const input: unknown = payload.value;
    try {
      return read(payload, context);
    } catch (error) {
      const issue = unreadable(input);
      // Not the input's doing: an error thrown by a check that somebody added.
      if (issue === undefined) throw error;
      payload.issues.push(issue);
      return payload;
    }
  };
});

function refuseKind(input: object): string | undefined {
  const kind = Object.prototype.toString.call(input).slice(8, -1);
  if (kind === "Object" || !foreignKinds.has(kind)) return undefined;
  return `must be a plain object, not ${kind === "Date" ? nameOf(input) : `a ${kind}`}`;
}

const foreignKinds = new Set(
  "Map Set WeakMap WeakSet WeakRef Date RegExp Error Promise String Number Boolean ArrayBuffer".split(" "),
);

/** What zod has found, and what it has passed over. */
function review(
  payload: z.core.ParsePayload,
  input: object,
  schema: z.ZodObject,
  def: FieldObjectDef,
): z.core.ParsePayload {
  if (payload.issues.length > 0) {
    const names = Object.keys(schema.shape);
    payload.issues = payload.issues.flatMap((issue) => refine(issue, input, names, def.hint));
  }
  refuseHiddenKeys(input, payload);
  return payload;
}

/** One issue for each unknown key; a missing field names the key that was given in its place. */
function refine(
  issue: z.core.$ZodRawIssue,
  input: object,
  names: string[],
  hint: UnknownKeyHint | undefined,
): z.core.$ZodRawIssue[] {
  if (issue.code === "unrecognized_keys" && issue.path === undefined) {
    // `__proto__` is reported with the hidden keys.
    const unknown = issue.keys.filter((key) => key !== "__proto__");
    return unknown.map((key) => ({
      ...issue,
      keys: [key],
      path: [key],
      message: describeUnknown(key, Reflect.get(input, key), names, hint),
    }));
  }
  const [name, ...deeper] = issue.path ?? [];
  if (issue.code !== "invalid_type" || typeof name !== "string" || deeper.length > 0 || name in input) return [issue];
  const given = nameMeant(
    name,
    Object.keys(input).filter((key) => !names.includes(key)),
  );
  if (given === undefined) return [issue];
  return [{ ...issue, message: `required; "${given}" was given: write "${name}"` }];
}

function describeUnknown(key: string, value: unknown, names: string[], hint: UnknownKeyHint | undefined): string {
  const meant = nameMeant(key, names);
  if (meant !== undefined) return `unknown field: write "${meant}"`;
  return hint?.(key, value) ?? "unknown field: the service refuses a request that holds it";
}

/** An issue at the first key whose reading throws, or at the object where not even its keys can be read. */
function unreadable(input: unknown): z.core.$ZodRawIssue | undefined {
  if (typeof input !== "object" || input === null) return undefined;
  let key: string | undefined;
  try {
    for (key in input) Reflect.get(input, key);
    key = undefined;
    refuseKind(input);
    refuseHiddenKeys(input, { value: input, issues: [] });
    return undefined;
  } catch {
    const message = "cannot be read: reading it threw an error";
    // `continue: false` keeps rules over several fields from reading it again.
    return { code: "custom", input: undefined, path: key === undefined ? [] : [key], message, continue: false };
  }
}
