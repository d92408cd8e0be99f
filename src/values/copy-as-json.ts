import type { ValidationIssue } from "../errors.ts";
import { awaitIt, contentLost, kindOf } from "./in-words.ts";
import { isDate, isObject, isPlain, withoutPrototype } from "./predicates.ts";

/**
 * Copies `input` as `JSON.stringify` would send it: own properties, the result of `toJSON`, nothing that is `undefined`. A
 * valid Date inside stays a Date. The copy's objects have no prototype: nothing is read that is not sent. `lost` is what JSON
 * would lose or write as null (numbers that are not finite, functions, BigInt, cycles, Map, Set, …), and `null`, which the
 * client never sends (D1), unless `takesNull`; the copy holds it unchanged, so that a schema can report it, too. An unreadable
 * input has no copy.
 */
export function copyAsJson(
  input: unknown,
  { takesNull = false } = {},
): { copy: unknown; lost: ValidationIssue[] } {
  const copier = new Copier(takesNull);
  try {
    return { copy: copier.copyValue(input), lost: copier.lost };
  } catch (error) {
    const issue = isStackOverflow(error)
      ? { path: [], message: "is nested too deeply" }
      : { path: copier.path, message: "cannot be read: a getter or a toJSON throws" };
    return { copy: undefined, lost: [{ ...issue, code: "custom" }] };
  }
}

class Copier {
  readonly lost: ValidationIssue[] = [];
  /** The path of the value that is being copied. */
  readonly path: (string | number)[] = [];
  readonly #ancestors = new Set<object>();
  readonly #takesNull: boolean;

  constructor(takesNull: boolean) {
    this.#takesNull = takesNull;
  }

  copyValue(value: unknown): unknown {
    if (isObject(value)) return this.#copyObject(value);
    if (typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)) return value;
    if (value === null)
      return this.#takesNull ? null : this.#refuse("must not be null: leave it out to send nothing", value);
    if (value === undefined && this.path.length > 0)
      return this.#refuse("undefined in an array would become null: leave the item out");
    // A program may have given BigInt a toJSON.
    const result = typeof value === "bigint" ? this.#resultOfToJson(value) : value;
    if (typeof result === "string" || Number.isFinite(result)) return result;
    return this.#refuse(`JSON cannot carry ${kindOf(value)}`, value);
  }

  #refuse(message: string, value?: unknown): unknown {
    this.lost.push({ path: [...this.path], code: "custom", message });
    return value;
  }

  /** Calls `toJSON` like JSON.stringify: the result has no further toJSON called. */
  #resultOfToJson(value: object | bigint): unknown {
    const toJson: unknown = Reflect.get(Object(value), "toJSON");
    return typeof toJson === "function"
      ? Reflect.apply(toJson, value, [String(this.path.at(-1) ?? "")])
      : value;
  }

  #copyObject(value: object): unknown {
    if (!isPlain(value) && isDate(value)) {
      if (Number.isNaN(value.getTime())) return this.#refuse("is an invalid Date", value);
      if (this.path.length > 0) return value;
    }
    if (this.#ancestors.has(value)) return this.#refuse("refers to itself, which JSON cannot carry", value);
    const result = this.#resultOfToJson(value);
    // The key of an object is left out, as where it is undefined.
    if (result === undefined && typeof this.path.at(-1) === "string") return undefined;
    if (result === undefined || result === null)
      return this.#refuse("its toJSON gives nothing, as of an invalid date", null);
    if (!isObject(result)) return this.copyValue(result);
    this.#ancestors.add(value);
    const copy = this.#copyProperties(result);
    this.#ancestors.delete(value);
    return copy;
  }

  #copyProperties(value: object): unknown {
    const isArray = Array.isArray(value);
    const kind = isArray || isPlain(value) ? undefined : contentLost(value);
    if (kind !== undefined) return this.#refuse(`JSON cannot carry ${kind}${awaitIt(value)}`, value);
    const copy: object = isArray ? [] : withoutPrototype({});
    // An array has an item for each index, also where it has a hole.
    for (const key of isArray ? value.keys() : Object.keys(value)) {
      this.path.push(key);
      // The receiver of the JSON may drop the key, or set a prototype.
      if (key === "__proto__") this.#refuse("is not accepted as a key: use another");
      else {
        const property: unknown = Reflect.get(value, key);
        const copied = isArray || property !== undefined ? this.copyValue(property) : undefined;
        if (isArray || copied !== undefined) Reflect.set(copy, key, copied);
      }
      this.path.pop();
    }
    return copy;
  }
}

/** Whether the stack overflowed, by the message of V8 and JavaScriptCore, or of SpiderMonkey. */
function isStackOverflow(error: unknown): boolean {
  return error instanceof Error && /call stack|recursion/.test(error.message);
}
