import type * as z from "zod";

const isEnumerable = Object.prototype.propertyIsEnumerable;

/**
 * Reports what would be dropped without a word, by zod or by `JSON.stringify`: an own key `__proto__`, and symbols as
 * keys. Tells whether there was anything.
 */
export function refuseHiddenKeys(object: object, payload: z.core.ParsePayload): boolean {
  const issuesBefore = payload.issues.length;
  if (Object.hasOwn(object, "__proto__")) {
    payload.issues.push(unknownKey("__proto__", ["__proto__"], "not accepted as a name: use another"));
  }
  for (const symbol of Object.getOwnPropertySymbols(object)) {
    if (!isEnumerable.call(object, symbol)) continue;
    const name = String(symbol);
    payload.issues.push(unknownKey(name, [], `the key ${name} is a symbol, which JSON cannot carry`));
  }
  return payload.issues.length > issuesBefore;
}

function unknownKey(key: string, path: string[], message: string): z.core.$ZodRawIssue {
  return { code: "unrecognized_keys", keys: [key], input: undefined, path, message, continue: true };
}
