import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { parse } from "csv-parse/sync";
import { isOfAddresses } from "./identifiers.ts";

/** The encoding that the first bytes of a file tell: by a byte-order mark, or the zero bytes of UTF-16. */
function encodingOf(head: Uint8Array): string | undefined {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return "utf-8";
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  // The headings are mostly ASCII, of which every second byte is zero in UTF-16.
  if (head[1] === 0 && head[0] !== 0) return "utf-16le";
  return head[0] === 0 && head[1] !== 0 ? "utf-16be" : undefined;
}

/** Whether a `TextDecoder` knows the encoding by this name. */
export function isEncoding(name: string): boolean {
  try {
    return new TextDecoder(name).encoding !== "";
  } catch {
    return false;
  }
}

/**
 * The encoding of a file: what its first bytes tell, and else UTF-8. The one that is named is that of a file that is no
 * UTF-8 to its end.
 */
export async function encodingIn(path: string, head: Uint8Array, named: string | undefined): Promise<string> {
  const told = encodingOf(head);
  if (told !== undefined || named === undefined) return told ?? "utf-8";
  return isUtf8(await readFile(path)) ? "utf-8" : named;
}

/**
 * The delimiter with which most rows of the file's beginning have as many cells as headings, most hold a whole address, and
 * there are most headings; or that of a line `sep=;` above the headings.
 */
export function delimiterOf(beginning: string): string {
  const sign = /^"?sep=([,;|\t])"?\r?\n/.exec(beginning)?.[1];
  const [best] = [",", ";", "\t", "|"]
    .map((delimiter) => ({ delimiter, ...fit(recordsIn(beginning, delimiter)) }))
    .toSorted((a, b) => b.rows - a.rows || b.addresses - a.addresses || b.headings - a.headings);
  return sign ?? best!.delimiter;
}

/** The share of rows with as many cells as headings, where those are more than one; that with an address; the headings. */
function fit([headings = [], ...rows]: readonly string[][]) {
  const share = (fits: (cells: readonly string[]) => boolean) =>
    rows.length === 0 ? 1 : rows.filter(fits).length / rows.length;
  const isTable = headings.length > 1;
  return {
    rows: isTable ? share((cells) => cells.length === headings.length) : 0,
    addresses: isTable ? share((cells) => cells.some((cell) => isOfAddresses(cell))) : 0,
    headings: headings.length,
  };
}

function recordsIn(beginning: string, delimiter: string): string[][] {
  const records: string[][] = [];
  try {
    // The beginning may end in the middle of a row.
    parse(beginning.replace(/\n[^\n]*$/, ""), {
      delimiter,
      record_delimiter: ["\r\n", "\n", "\r"],
      // Quotes are not interpreted: with a wrong delimiter they are in the middle of cells.
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      on_record: (record: string[]) => void records.push(record),
    });
  } catch {
    // The beginning may end inside a cell with line breaks, and a wrong delimiter leaves a quote open.
  }
  return records;
}

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
