// Where a spreadsheet begins a cell: also inside of one, if another separator is set on its machine.
const cellBegins = String.raw`(?<=(?:^|[,;|:\t\r\n])[\s"\p{Cc}\p{Cf}]*)`;
const signs = "[=+\\-@\uFF1D\uFF0B\uFF0D\uFF20\uFE66\uFE62\uFE63\uFE6B]";

/** A line of CSV (RFC 4180). No spreadsheet runs a cell of it as a formula, whatever list separator it takes. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

/** The text before it was written by `csvLine`. */
export function withoutMark(text: string): string {
  return text.replaceAll(new RegExp(`${cellBegins}'(?='*${signs})`, "gu"), "");
}

/** A sign with which a formula begins gets a `'` before it, and so do marks of the text's own: so each can be removed. */
function csvCell(text: string): string {
  const safe = text.replaceAll(new RegExp(`${cellBegins}(?='*${signs})`, "gu"), "'");
  return /[",;\t|\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
