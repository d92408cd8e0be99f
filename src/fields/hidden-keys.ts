import type { FoundIssue, Payload } from "./field.ts";

/**
 * Keys that would be dropped without a word, by zod or by `JSON.stringify`, and why they are refused: an own key
 * `__proto__`, and symbols.
 */
export function hiddenKeys(object: object): (readonly [key: string, problem: string])[] {
  const symbols = Object.getOwnPropertySymbols(object).filter(
    (symbol) => Object.getOwnPropertyDescriptor(object, symbol)?.enumerable,
  );
  const found = symbols.map((symbol) => [String(symbol), "JSON cannot carry a symbol as a key"] as const);
  return Object.hasOwn(object, "__proto__")
    ? [["__proto__", "not accepted as a name: use another"], ...found]
    : found;
}

export function refuseHiddenKeys(object: object, payload: Payload): void {
  for (const [key, problem] of hiddenKeys(object)) payload.issues.push(unknownKey(key, problem));
}

/** A key that is not accepted, at its own path. */
export function unknownKey(key: string, message: string): FoundIssue {
  return { code: "unrecognized_keys", keys: [key], path: [key], message, continue: true };
}
