import type { RowIssue } from "./contact.ts";

/** The column that a report adds: the reason why the row was not imported. */
export const reasonHeading = "import: reason";

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
    return this.cells.length !== this.headings.length || this.#cutAfter !== undefined;
  }

  /** A report has all cells of a line that was cut short: those that were missing are blank. */
  get #cutAfter(): number | undefined {
    const at = this.headings.indexOf(reasonHeading);
    const count = at < 0 ? undefined : cellsBeforeCut(this.cells[at] ?? "");
    const own = this.cells.filter((_, index) => index !== at);
    return count !== undefined && own.slice(count).every((cell) => cell.trim() === "") ? count : undefined;
  }

  shapeIssues(): RowIssue[] {
    if (!this.isMisshapen) return [];
    const headings = this.headings.filter((heading) => heading !== reasonHeading).length;
    return [{ field: "row", message: shapeReason(this.#cutAfter ?? this.cells.length, headings) }];
  }
}

// Spreadsheets may write a row's empty cells behind the last heading.
function withoutBlankEnd(cells: readonly string[], length: number): readonly string[] {
  return cells.slice(length).every((cell) => cell.trim() === "") ? cells.slice(0, length) : cells;
}

/** The reason of a line with another number of cells than headings. */
function shapeReason(cells: number, headings: number): string {
  return `has ${cells} ${cells === 1 ? "cell" : "cells"}, but there are ${headings} headings`;
}

/** The number of cells of a line that was cut short. Until one of the missing cells is filled, it is refused again. */
function cellsBeforeCut(reason: string): number | undefined {
  const [, cells, headings] = /^row: has (\d+) cells?, but there are (\d+) headings/.exec(reason) ?? [];
  return Number(cells) < Number(headings) ? Number(cells) : undefined;
}
