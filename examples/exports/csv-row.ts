/** What is wrong with one field of a row: the field as the contact names it, and why. */
export interface RowIssue {
  readonly field: string;
  readonly message: string;
}

/** One row of a CSV file, its cells by heading. */
export class CsvRow {
  /** As a spreadsheet numbers it: the headings are row 1, and a cell with line breaks is still one row. */
  readonly number: number;
  readonly headings: readonly string[];
  readonly cells: readonly string[];

  constructor(row: { number: number; headings: readonly string[]; cells: readonly string[] }) {
    this.number = row.number;
    this.headings = row.headings;
    this.cells = row.cells;
  }

  /** The cell under the heading, without the spaces around it; `undefined` if it is blank or there is no such column. */
  cell(heading: string): string | undefined {
    const text = this.cells[this.headings.indexOf(heading)]?.trim();
    return text === "" ? undefined : text;
  }

  /** A line that was cut short, or has a comma too many: its cells may stand under the wrong headings. */
  shapeIssues(): RowIssue[] {
    if (this.cells.length === this.headings.length) return [];
    return [
      {
        field: "row",
        message: `has ${this.cells.length} cells, but there are ${this.headings.length} headings`,
      },
    ];
  }
}
