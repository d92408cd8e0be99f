import { shown } from "./samples.ts";

/** A row of one of the document's field tables, with values at, below and above each bound, and of other types. */
export interface FieldRow {
  /** The field, or the path to it. */
  field: string;
  rule: string;
  allowed: readonly unknown[];
  forbidden: readonly unknown[];
}

/** One test for each value of each row: the field, its rule and the value for the title, then the value and the row. */
export function casesOf<Row extends FieldRow>(
  rows: readonly Row[],
  kind: "allowed" | "forbidden",
): [field: string, rule: string, shown: string, value: unknown, row: Row][] {
  return rows.flatMap((row) =>
    row[kind].map((value): [string, string, string, unknown, Row] => [
      row.field,
      row.rule,
      shown(value),
      value,
      row,
    ]),
  );
}
