import { showsNothing } from "./is-object.ts";

/** Beyond these, what is given is not meant to be read by anybody. */
const mostLevels = 100;
const mostValues = 1_000_000;
const own = { enumerable: true, configurable: true, writable: true };

/**
 * A copy of what the mock was given: nobody changes the mock by changing it later, and what throws or never ends when
 * it is read does so here, as a TypeError. Functions stay as they are.
 */
export function ownCopy<T>(what: string, given: T): T {
  let values = 0;
  const copy = (value: unknown, level: number): unknown => {
    if (++values > mostValues || level > mostLevels)
      throw new TypeError(`${what} hold too much: at most ${mostValues} values, ${mostLevels} deep`);
    if (typeof value === "bigint" || typeof value === "symbol")
      throw new TypeError(`${what} hold a ${typeof value}, which no JSON can carry`);
    if (typeof value !== "object" || value === null) return value;
    if (value instanceof Date) return new Date(value);
    if (!Array.isArray(value)) return record(value, level);
    const list: unknown[] = [];
    for (let at = 0; at < value.length; at++) list.push(copy(value[at], level + 1));
    return list;
  };
  const record = (value: object, level: number): object => {
    const result: Record<string, unknown> = {};
    for (const [name, inner] of Object.entries(value)) {
      // It would be run with every answer, and may never come to an end.
      if (name === "toJSON" && typeof inner === "function")
        throw new TypeError(`${what} hold a toJSON: give what it gives`);
      const inside = copy(inner, level + 1);
      // By assignment it would be taken for the prototype.
      if (name === "__proto__") Object.defineProperty(result, name, { ...own, value: inside });
      else result[name] = inside;
    }
    return result;
  };
  // True: a copy is of the same type.
  return readable(what, () => {
    if (showsNothing(given)) throw new TypeError(`${what} must be a plain object`);
    return copy(given, 0);
  }) as T;
}

/** What reading gives; where it throws, a TypeError that says so and holds what was thrown as its cause. */
export function readable<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof TypeError) throw error;
    throw new TypeError(`${what} cannot be read: a getter or a proxy throws`, { cause: error });
  }
}
