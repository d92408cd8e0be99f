import { compactHeading } from "./heading.ts";

/** Which columns are sent: with `only` those that it names, with `without` all others. */
export interface ColumnChoice {
  readonly only?: readonly string[];
  readonly without?: readonly string[];
}

/** A choice that no file has the column for: a spelling mistake. */
export class UnknownColumnError extends Error {
  override readonly name = "UnknownColumnError";
}

/** Which choice leaves a column out; undefined where none does. */
export function leftOutBy(heading: string, { only, without }: ColumnChoice): "without" | "only" | undefined {
  if (names(without, heading)) return "without";
  return only !== undefined && !names(only, heading) ? "only" : undefined;
}

/** The choice name by name: `a, b` is two, unless a heading is written so. Throws an `UnknownColumnError`. */
export function namedColumns({ only, without }: ColumnChoice, headings: readonly string[]): ColumnChoice {
  const named = (values: readonly string[], option: string) =>
    values.flatMap((value) => namesIn(value, option, headings));
  return {
    ...(only === undefined ? {} : { only: named(only, "--only") }),
    ...(without === undefined ? {} : { without: named(without, "--without") }),
  };
}

function namesIn(value: string, option: string, headings: readonly string[]): string[] {
  const isKnown = (name: string) => headings.some((heading) => isSame(name, heading));
  if (isKnown(value)) return [value];
  const parts = value
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const unknown = parts.length === 0 ? value : parts.find((name) => !isKnown(name));
  if (unknown === undefined) return parts;
  throw new UnknownColumnError(
    `${option}: no file has a column ${JSON.stringify(unknown)}. There are ${headings.join(", ")}.`,
  );
}

function names(chosen: readonly string[] | undefined, heading: string): boolean {
  return chosen?.some((name) => isSame(name, heading)) ?? false;
}

// Headings of signs alone ("#") have no words to compare.
function isSame(name: string, heading: string): boolean {
  return (
    name === heading || (compactHeading(name) !== "" && compactHeading(name) === compactHeading(heading))
  );
}
