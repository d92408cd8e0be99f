export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !Array.isArray(value);
}

/** Whether an object is of no class, in this realm or another. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * Whether a value has a property of its own, or of a class below `Object.prototype`: what stands there, anything in the
 * process may have put there.
 */
export function hasProperty(value: object, name: PropertyKey): boolean {
  // Safe: an object that is of a class has a prototype.
  return (
    Object.hasOwn(value, name) ||
    (!isPlain(value) && hasProperty(Object.getPrototypeOf(value) as object, name))
  );
}

export function hasOwn<Value extends object>(value: Value, name: keyof Value): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined;
}

/** A copy of the own properties, without a prototype: what it lacks is undefined, whatever others put there. */
export function withoutPrototype<Value extends object>(value: Value): Value {
  // Made with a prototype, as V8 is slow with an object of `Object.create(null)`. Safe: its properties are those of the value.
  return Object.setPrototypeOf({ ...value }, null) as Value;
}

/** An object that has each of these names, separated by spaces, as undefined: who reads one reads nothing inherited. */
export function undefinedOf(names: string): Readonly<Record<string, undefined>> {
  return Object.fromEntries(names.split(" ").map((name) => [name, undefined]));
}

export function hasMethods(value: unknown, ...names: readonly string[]): value is object {
  return (
    isObject(value) &&
    names.every((name) => hasProperty(value, name) && typeof Reflect.get(value, name) === "function")
  );
}

/** Whether a value is a `Date`, of this realm or another (in Jest, `fs` gives Dates of another), valid or not. */
export function isDate(value: unknown): value is Date {
  return Object.prototype.toString.call(value) === "[object Date]";
}

/** The property of any value, for `path.reduce(propertyOf, value)`. */
export function propertyOf(holder: unknown, key: string | number): unknown {
  // Safe: any value may be read by a key; `Object` wraps undefined and null too.
  return (Object(holder) as Record<string | number, unknown>)[key];
}
