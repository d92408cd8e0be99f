/** A row of a table, with the number of the line on which it begins. */
export interface CsvRow {
  line: number;
  cells: string[];
}

/** The delimiters of spreadsheets. */
const DELIMITERS: readonly string[] = [",", ";", "\t"];

/** Of Unix, Windows, and older programs of a Mac. */
const LINE_END = /\r\n?|\n/;

/** The rows of a CSV (RFC 4180), without empty ones. Throws for a quote that does not end, or stands inside a cell. */
export function readCsv(text: string): CsvRow[] {
  const content = text.replace(/^\uFEFF/, "");
  const delimiter = delimiterOf(content);
  // A cell in quotes or without any, and its end.
  const next = new RegExp(
    `(?:"([^"]*(?:""[^"]*)*)"|([^${delimiter}"\\r\\n]*))(${delimiter}|\\r\\n?|\\n|$)`,
    "y",
  );
  const rows: CsvRow[] = [];
  let line = 1;
  let row: CsvRow = { line, cells: [] };
  // After a delimiter at the very end there is one more cell, an empty one.
  while (next.lastIndex < content.length || row.cells.length > 0) {
    const found = next.exec(content);
    if (found === null)
      throw new Error(
        `line ${line}: a quote does not end, or stands inside a cell: put the cell in quotes, and double each of its own`,
      );
    const [raw, quoted, plain = "", end] = found;
    row.cells.push(quoted?.replaceAll('""', '"') ?? plain);
    line += raw.split(LINE_END).length - 1;
    if (end === delimiter) continue;
    rows.push(row);
    row = { line, cells: [] };
  }
  return rows.filter(({ cells }) => cells.some((cell) => cell.trim() !== ""));
}

/** The one that is most frequent in the first line. */
function delimiterOf(content: string): string {
  const [first = ""] = content.split(LINE_END, 1);
  const count = (delimiter: string): number => first.split(delimiter).length;
  return DELIMITERS.reduce((best, other) => (count(other) > count(best) ? other : best));
}
