import type { Payload } from "./field.ts";
import { withArticle } from "./kind-of.ts";

// These hold their content elsewhere even where something of one's own was added, or where they show a part of it.
const lossyKinds = /^(Map|Set|Date|Error|Promise|String)$/;

/** The kind of an object that looks like one but holds its content elsewhere, so that JSON would lose it: `a Map`. */
export function lossyKind(value: object): string | undefined {
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  // What has a kind of its own and shows nothing, such as a FormData or an AbortSignal, keeps what it holds to itself.
  const isClosed = kind !== "Object" && Object.keys(value).length === 0;
  return isClosed || ArrayBuffer.isView(value) || lossyKinds.test(kind) ? withArticle(kind) : undefined;
}

/** Refuses such an object where `rule` was asked for, and tells whether it did. */
export function refuseLossy(input: object, { issues }: Payload, rule = "a plain object"): boolean {
  const kind = lossyKind(input);
  if (kind === undefined) return false;
  const message = `must be ${rule}, not ${kind}`;
  issues.push({ code: "invalid_type", expected: "object", input, message });
  return true;
}
