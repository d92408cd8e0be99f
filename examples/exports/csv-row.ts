/** What is wrong with one field of a row: the field as the contact names it, and why. */
export interface RowIssue {
  readonly field: string;
  readonly message: string;
}

/** The columns that an import's report adds: why a row failed, and what else must be known of it. */
export const noteHeadings = { reason: "import: reason", note: "import: note" } as const;

function isNoteHeading(heading: string | undefined): boolean {
  return heading === noteHeadings.reason || heading === noteHeadings.note;
}

/** One row of a CSV file, its cells by heading. */
export class CsvRow {
  /** As a spreadsheet numbers it: the headings are row 1, and a cell with line breaks is still one row. */
  readonly number: number;
  readonly headings: readonly string[];
  readonly cells: readonly string[];
  /** What an earlier import wrote into its report beside the row, by heading. */
  readonly notes: ReadonlyMap<string, string>;

  constructor(row: { number: number; headings: readonly string[]; cells: readonly string[] }) {
    const isNote = (_: unknown, index: number) => isNoteHeading(row.headings[index]);
    const isOwn = (_: unknown, index: number) => !isNoteHeading(row.headings[index]);
    this.number = row.number;
    this.headings = row.headings.filter(isOwn);
    this.cells = row.cells.filter(isOwn);
    const notes = row.cells.filter(isNote);
    this.notes = new Map(
      row.headings.filter(isNote).map((heading, index) => [heading, notes[index]?.trim() ?? ""]),
    );
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
