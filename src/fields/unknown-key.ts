import type { FoundIssue, UnknownKeyHint } from "./field.ts";
import { nameMeant } from "./name-hint.ts";

/** What is said of a key that is not among the names of the fields. */
export function describeUnknownKey(
  key: string,
  input: object,
  names: readonly string[],
  hint: UnknownKeyHint | undefined,
): string {
  const meant = nameMeant(key, names);
  if (meant !== undefined) return `unknown field: write "${meant}"`;
  return hint?.(key, valueOf(input, key)) ?? `unknown field: there are ${names.join(", ")}`;
}

/** Where a field is missing, names the key that was given in its place: `first_name` for `firstName`. */
export function nameWhatWasGiven(issue: FoundIssue, input: object, names: readonly string[]): void {
  // True: an issue of a field leads to it.
  const [name, ...deeper] = issue.path!;
  if (typeof name !== "string" || deeper.length > 0 || name in input) return;
  const others = Object.keys(input).filter((key) => !names.includes(key));
  const given = nameMeant(name, others);
  if (given !== undefined) issue.message = `required; "${given}" was given: write "${name}"`;
}

/** Whether the key stands for nothing. Without running a getter, which could throw: a key that has one is given. */
export function isLeftOut(input: object, key: string): boolean {
  const property = Object.getOwnPropertyDescriptor(input, key);
  return property !== undefined && "value" in property && property.value === undefined;
}

/** Without running a getter, which could throw. */
function valueOf(input: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(input, key)?.value;
}
