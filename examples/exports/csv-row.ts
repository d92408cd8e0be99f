import { counted } from "../console/counted.ts";
import type { RowIssue } from "./contact.ts";
import { cellsBeforeCut, isOfReport, noteHeadings } from "./report-note.ts";

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
    return this.cells.length !== this.headings.length || this.cutAfter !== undefined;
  }

  /** The number of its cells, if it was cut short, and still is. */
  get cutAfter(): number | undefined {
    if (this.cells.length < this.headings.length) return this.cells.length;
    const note = this.headings.indexOf(noteHeadings.note);
    const count = note < 0 ? undefined : cellsBeforeCut(this.cells[note] ?? "");
    if (count === undefined) return undefined;
    // A report has all cells of such a line: those that were missing are blank.
    const own = this.cells.filter((_, index) => !isOfReport(this.headings[index] ?? ""));
    return own.slice(count).every((cell) => cell.trim() === "") ? count : undefined;
  }

  shapeIssues(): RowIssue[] {
    if (!this.isMisshapen) return [];
    const cells = counted(this.cutAfter ?? this.cells.length, "cell");
    const headings = this.headings.filter((heading) => !isOfReport(heading)).length;
    return [{ field: "row", message: `has ${cells}, but there are ${counted(headings, "heading")}` }];
  }
}

// Spreadsheets may write a row's empty cells behind the last heading.
function withoutBlankEnd(cells: readonly string[], length: number): readonly string[] {
  return cells.slice(length).every((cell) => cell.trim() === "") ? cells.slice(0, length) : cells;
}
