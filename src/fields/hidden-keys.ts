import type { FoundIssue, Payload } from "./field.ts";

const isEnumerable = Object.prototype.propertyIsEnumerable;

/**
 * Reports what would be dropped without a word, by zod or by `JSON.stringify`: an own key `__proto__`, and symbols as
 * keys.
 */
export function refuseHiddenKeys(object: object, payload: Payload): void {
  if (Object.hasOwn(object, "__proto__")) {
    payload.issues.push(unknownKey("__proto__", "not accepted as a name: use another"));
  }
  for (const symbol of Object.getOwnPropertySymbols(object)) {
    if (!isEnumerable.call(object, symbol)) continue;
    payload.issues.push(unknownKey(String(symbol), "JSON cannot carry a symbol as a key"));
  }
}

/** A key that is not accepted, at its own path. */
export function unknownKey(key: string, message: string): FoundIssue {
  return { code: "unrecognized_keys", keys: [key], path: [key], message, continue: true };
}
