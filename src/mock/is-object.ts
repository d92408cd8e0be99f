/** Whether it is an object of JSON, which an array is not. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A Promise, a Map, an instance of a class: what it holds stands elsewhere, and it would pass for an empty object. */
export function showsNothing(value: unknown): boolean {
  if (!isObject(value) || Object.keys(value).length > 0) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return isObject(prototype) && Object.getPrototypeOf(prototype) !== null;
}
