export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The keys that lead to a value. */
export type Path = readonly string[];

export function valueAt(body: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), body);
}

/**
 * The keys of a JSON value, in alphabetical order and without any value: `{ error: { code, message } }`. An array shows
 * its first item. `depth` bounds the levels.
 */
export function keysOf(value: unknown, depth = 4): string {
  if (Array.isArray(value)) return isObject(value[0]) ? `[${keysOf(value[0], depth)}]` : "[]";
  if (typeof value === "string" && /^\s*[^\s{[]/.test(value)) return "a text";
  if (!isObject(value)) return value === undefined || value === "" ? "nothing" : "no JSON object";
  const keys = Object.keys(value).sort();
  if (keys.length === 0) return "{}";
  if (depth === 0) return "{…}";
  const parts = keys.map((key) => {
    const inner = value[key];
    return typeof inner === "object" && inner !== null ? `${key}: ${keysOf(inner, depth - 1)}` : key;
  });
  return `{ ${parts.join(", ")} }`;
}

/**
 * JavaScript that builds a JSON value anew, with code in place of some values: `leaf` names the code for the value at
 * `keys`. A value without code is left out.
 */
export function codeOf(
  value: unknown,
  leaf: (keys: readonly string[], value: unknown) => string | undefined,
  keys: readonly string[] = [],
): string | undefined {
  const code = leaf(keys, value);
  if (code !== undefined || value === null || typeof value !== "object") return code;
  const inner = Object.entries(value).flatMap(([key, each]) => {
    const part = codeOf(each, leaf, [...keys, key]);
    return part === undefined ? [] : [Array.isArray(value) ? part : `${JSON.stringify(key)}: ${part}`];
  });
  if (Array.isArray(value)) return `[${inner.join(", ")}]`;
  return inner.length === 0 ? undefined : `{ ${inner.join(", ")} }`;
}
