import { counted } from "../console/counted.ts";
import type { RowIssue } from "./contact.ts";

/** One row of a CSV file, its cells in the order of the headings. */
export class CsvRow {
  /** As a spreadsheet numbers it: the headings are row 1, and a cell with line breaks is still one row. */
  readonly number: number;
  readonly headings: readonly string[];
  readonly cells: readonly string[];

  constructor(row: { number: number; headings: readonly string[]; cells: readonly string[] }) {
    this.number = row.number;
    this.headings = row.headings;
    this.cells = withoutBlankEnd(row.cells, row.headings.length);
  }

  /** The cell, without the spaces around it; `undefined` if it is blank. */
  cell(index: number): string | undefined {
    const text = this.cells[index]?.trim();
    return text === "" ? undefined : text;
  }

  /** A line that was cut short, or has an extra comma: its cells may be under the wrong headings. */
  get isMisshapen(): boolean {
    return this.cells.length !== this.headings.length;
  }

  shapeIssues(): RowIssue[] {
    if (!this.isMisshapen) return [];
    return [
      {
        field: "row",
        message: `has ${counted(this.cells.length, "cell")}, but there are ${counted(this.headings.length, "heading")}`,
      },
    ];
  }
}

// Spreadsheets may write a row's empty cells behind the last heading.
function withoutBlankEnd(cells: readonly string[], length: number): readonly string[] {
  return cells.slice(length).every((cell) => cell.trim() === "") ? cells.slice(0, length) : cells;
}
