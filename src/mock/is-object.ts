/** An object that is not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A Promise, a Map, or an instance of a class without properties: it would be taken for an empty object. */
export function showsNothing(value: unknown): boolean {
  if (!isObject(value) || Object.keys(value).length > 0) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return isObject(prototype) && Object.getPrototypeOf(prototype) !== null;
}
