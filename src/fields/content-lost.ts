import { lossyKind } from "./lossy-kind.ts";
import { isPlain } from "../is-object.ts";

/** What kind of object this is, where `JSON.stringify` would lose what it holds without a word. */
export function contentLost(value: object): string | undefined {
  if (isPlain(value)) return undefined;
  const kind = lossyKind(value);
  if (kind !== undefined) return kind;
  // An instance of a class that shows nothing keeps what it holds to itself.
  return Object.keys(value).length === 0 ? "an instance of a class without properties" : undefined;
}
