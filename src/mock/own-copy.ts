import { showsNothing } from "./is-object.ts";

/** Larger inputs are refused. */
const mostLevels = 100;
const mostValues = 1_000_000;
const own = { enumerable: true, configurable: true, writable: true };

/**
 * Copies an input of the mock, so that later changes do not affect the mock. An input that throws while it is read, or
 * is too large, is a TypeError. Functions are not copied.
 */
export function ownCopy<T>(name: string, given: T): T {
  let values = 0;
  const copy = (value: unknown, depth: number): unknown => {
    if (++values > mostValues || depth > mostLevels)
      throw new TypeError(`${name} hold too much: at most ${mostValues} values, ${mostLevels} deep`);
    if (typeof value === "bigint" || typeof value === "symbol")
      throw new TypeError(`${name} hold a ${typeof value}, which no JSON can carry`);
    if (typeof value !== "object" || value === null) return value;
    if (value instanceof Date) return new Date(value);
    if (!Array.isArray(value)) return record(value, depth);
    const list: unknown[] = [];
    for (let at = 0; at < value.length; at++) list.push(copy(value[at], depth + 1));
    return list;
  };
  const record = (value: object, depth: number): object => {
    const result: Record<string, unknown> = {};
    for (const [key, inner] of Object.entries(value)) {
      // It would run with every response, and may never end.
      if (key === "toJSON" && typeof inner === "function")
        throw new TypeError(`${name} hold a toJSON: pass its result instead`);
      const inside = copy(inner, depth + 1);
      // An assignment would set the prototype.
      if (key === "__proto__") Object.defineProperty(result, key, { ...own, value: inside });
      else result[key] = inside;
    }
    return result;
  };
  // Safe: a copy has the same type.
  return readable(name, () => {
    if (showsNothing(given)) throw new TypeError(`${name} must be a plain object`);
    return copy(given, 0);
  }) as T;
}

/** The result of `read`; an error that it throws becomes the cause of a TypeError. */
export function readable<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof TypeError) throw error;
    throw new TypeError(`${name} cannot be read: a getter or a proxy throws`, { cause: error });
  }
}
