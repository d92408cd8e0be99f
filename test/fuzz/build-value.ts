import type { SpecialName, HostileValue } from "./hostile-value.ts";

/** Builds the value of a description; `valid` are accepted inputs, for a graft. */
export function buildValue(description: HostileValue, valid: readonly unknown[] = []): unknown {
  const of = (inner: HostileValue) => buildValue(inner, valid);
  switch (description.kind) {
    case "json":
      return structuredClone(description.of);
    case "special":
      return specialValues[description.of]();
    case "string":
      return description.of.repeat(description.times);
    case "deep":
      return deep(description.levels);
    case "wide":
      return wide(description.levels);
    case "holes":
      return Object.assign([], { length: description.length });
    case "many":
      return Object.fromEntries(Array.from({ length: description.keys }, (_, at) => [`key${at}`, at]));
    case "list":
      return description.of.map(of);
    case "record":
      return objectOf(description.of.map(([name, inner]) => [name, of(inner)]));
    case "graft":
      return grafted(valid, description, of(description.of));
  }
}

/** The message that every hostile method throws. It must not appear anywhere. */
export const hostileMessage = "thrown by the input";

const hostile = (): never => {
  throw new Error(hostileMessage);
};

/** Not by assignment, which would set the prototype for `__proto__`. */
function objectOf(entries: readonly (readonly [string, unknown])[]): object {
  const object = {};
  for (const [name, value] of entries) {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return object;
}

function deep(levels: number): unknown {
  let value: unknown = "x";
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? { a: value } : [value];
  return value;
}

function wide(levels: number): unknown {
  let value: unknown = "x";
  for (let level = 0; level < levels; level++) value = [value, value];
  return value;
}

/** A copy of one of the valid inputs with another value at one path. */
function grafted(
  valid: readonly unknown[],
  { onto, at }: { onto: number; at: readonly number[] },
  value: unknown,
): unknown {
  const root = { copy: copyOf(valid[onto % Math.max(1, valid.length)]) };
  let parent: object = root;
  let name = "copy";
  for (const step of at) {
    const inner: unknown = Reflect.get(parent, name);
    if (typeof inner !== "object" || inner === null) break;
    const names = Object.keys(inner);
    if (names.length === 0) break;
    parent = inner;
    name = names[step % names.length] ?? "";
  }
  Reflect.set(parent, name, value);
  return root.copy;
}

/** Functions, signals and instances are not copied: only plain objects and arrays are. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, copyOf(inner)]));
}

class Person {
  readonly #secret = "hidden";
  email = "ada@example.com";
  get secret(): string {
    return this.#secret;
  }
}

const specialValues: Record<SpecialName, () => unknown> = {
  undefined: () => undefined,
  null: () => null,
  NaN: () => Number.NaN,
  Infinity: () => Infinity,
  "-0": () => -0,
  "2^53": () => 2 ** 53,
  "a BigInt": () => 5n,
  "a symbol": () => Symbol("odd"),
  "a function": () => () => 1,
  "an async function": () => async () => hostile(),
  "a class": () => Person,
  "a Map": () => new Map([["email", "ada@example.com"]]),
  "a Set": () => new Set(["ada@example.com"]),
  "a Date": () => new Date(0),
  "an invalid Date": () => new Date(Number.NaN),
  "a RegExp": () => /x/g,
  "an Error": () => new Error("odd", { cause: { code: 5 } }),
  "a typed array": () => new Uint8Array(4),
  "a boxed string": () => Object("ada@example.com") as object,
  "a Headers object": () => new Headers({ "x-odd": "1" }),
  "a rejected promise": () => {
    const promise = Promise.reject(new Error(hostileMessage));
    // Handled here; the code under test must handle any promise that it derives from it.
    promise.catch(() => undefined);
    return promise;
  },
  "a cycle": () => {
    const cycle: Record<string, unknown> = { email: "ada@example.com" };
    cycle["self"] = cycle;
    return cycle;
  },
  "a cycle of arrays": () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    return cycle;
  },
  "an instance": () => new Person(),
  "a frozen instance": () => Object.freeze(new Person()),
  "an object without a prototype": () => Object.assign(Object.create(null) as object, { email: "a@b" }),
  "__proto__ as an own key": () => JSON.parse('{"__proto__":{"polluted":1},"email":"a@b"}') as unknown,
  "constructor as an own key": () => JSON.parse('{"constructor":{"prototype":{"polluted":1}}}') as unknown,
  "a symbol as a key": () => ({ [Symbol("key")]: 1 }),
  "a toJSON that throws": () => ({ toJSON: hostile }),
  "a toJSON that gives itself": () => {
    const itself = { toJSON: () => itself };
    return itself;
  },
  // oxlint-disable-next-line unicorn/no-thenable -- a caller in JavaScript can pass this.
  "a then that never calls back": () => ({ then: () => undefined }),
  "an iterator that gives no object": () => ({ [Symbol.iterator]: () => 5, [Symbol.asyncIterator]: () => 5 }),
  "a brand of ours": () => ({ [Symbol.for("audience-sdk.error")]: true }),
  "an aborted signal": () => AbortSignal.abort(hostileMessage),
};
