import { compactHeading } from "./heading.ts";

/** The selection of columns: only the named ones, or all except the named ones. */
export interface ColumnChoice {
  readonly only?: readonly string[];
  readonly without?: readonly string[];
}

/** A selected column that no file has. */
export class UnknownColumnError extends Error {
  override readonly name = "UnknownColumnError";
}

/** The option that leaves a column out; undefined if none does. */
export function leftOutBy(heading: string, { only, without }: ColumnChoice): "without" | "only" | undefined {
  if (names(without, heading)) return "without";
  return only !== undefined && !names(only, heading) ? "only" : undefined;
}

/** Splits the choice into names: `a, b` are two, unless it is a heading. Throws an `UnknownColumnError`. */
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

// Headings without letters ("#") have no words to compare.
function isSame(name: string, heading: string): boolean {
  return (
    name === heading || (compactHeading(name) !== "" && compactHeading(name) === compactHeading(heading))
  );
}
