import { lossyKind } from "./lossy-kind.ts";

/** What kind of object this is, where `JSON.stringify` would lose what it holds without a word. */
export function contentLost(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  // A plain object, of this realm or another.
  if (prototype === null || prototype === Object.prototype) return undefined;
  if (typeof prototype === "object" && Object.getPrototypeOf(prototype) === null) return undefined;
  const kind = lossyKind(value);
  if (kind !== undefined) return kind;
  // An instance of a class that shows nothing keeps what it holds to itself.
  return Object.keys(value).length === 0 ? "an instance of a class that shows no properties" : undefined;
}
