/** Whether a value can have properties: an object of whatever kind, an array too. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** An object that is no array: what JSON writes in braces. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !Array.isArray(value);
}

/** Of no class, in this realm or another. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

export function hasMethods(value: unknown, ...names: readonly string[]): value is object {
  return isObject(value) && names.every((name) => typeof Reflect.get(value, name) === "function");
}
