import { createReadStream } from "node:fs";
import { pipeline, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { TextDecoderStream } from "node:stream/web";
import { CsvError, parse } from "csv-parse";
import { InputError } from "../console/program.ts";
import type { RowIssue } from "./contact.ts";
import { delimiterOf, encodingIn, withoutMark } from "./csv-format.ts";
import { isOfAddresses } from "./identifiers.ts";

/** The column that a report adds: the reason why the row was not imported. */
export const reasonHeading = "import: reason";

/** One row of a CSV file, its cells in the order of the headings. */
export class CsvRow {
  /** As a spreadsheet numbers it: the headings are row 1, and a cell with line breaks is still one row. */
  readonly number: number;
  readonly headings: readonly string[];
  readonly cells: readonly string[];
  /** The issue of a line that was cut short, or has an extra comma: its cells may be under the wrong headings. */
  readonly shapeIssue: RowIssue | undefined;

  constructor({ number, headings, cells }: Pick<CsvRow, "number" | "headings" | "cells">) {
    this.number = number;
    this.headings = headings;
    this.cells = cells;
    this.shapeIssue = this.#shapeIssue();
  }

  /** The cell, without the spaces around it; `undefined` if it is blank. */
  cell(index: number): string | undefined {
    const text = this.cells[index]?.trim();
    return text === "" ? undefined : text;
  }

  #shapeIssue(): RowIssue | undefined {
    const at = this.headings.indexOf(reasonHeading);
    const isOwn = (_: string, index: number) => index !== at;
    const own = this.cells.filter(isOwn);
    const expected = this.headings.filter(isOwn).length;
    // A report has all cells of a line that was cut: until one of the missing ones is filled, it is refused again.
    const cut = Number(/^row: has (\d+) cell/.exec(this.cells[at] ?? "")?.[1]);
    const count = cut < expected && isBlankFrom(cut, own) ? cut : own.length;
    if (count === expected) return undefined;
    const message = `has ${count} ${count === 1 ? "cell" : "cells"}, but there are ${expected} headings`;
    const isEnded = count > expected && isBlankFrom(expected, own);
    const remedy = isEnded ? "; if every line ends with a separator, the first one needs it too" : "";
    return { field: "row", message: `${message}${remedy}` };
  }
}

const isBlankFrom = (index: number, cells: readonly string[]) =>
  cells.slice(index).every((cell) => cell.trim() === "");

/** A CSV file whose headings have been read. */
export interface CsvFile {
  readonly path: string;
  readonly headings: readonly string[];
  /** The names of the columns in a map: a second `Tag` is `Tag (2)`. */
  readonly names: readonly string[];
  readonly encoding: string;
  readonly delimiter: string;
  /** Its rows without the empty lines (which still count in the rows' numbers), one at a time, from the first on. */
  rows(): AsyncGenerator<CsvRow>;
}

const headBytes = 65_536;
// An unclosed quote would put the rest of the file into one cell.
const longestRecord = 1_000_000;

/**
 * Opens a CSV file: comma, semicolon or tab, with any line ends, in UTF-8 or UTF-16; other encodings have to be named.
 */
export async function openCsv(
  path: string,
  { encoding: given }: { encoding?: string | undefined } = {},
): Promise<CsvFile> {
  const head = await buffer(createReadStream(path, { end: headBytes - 1 })).catch((cause: unknown) => {
    throw new InputError(`${path}: cannot be read: ${String(cause)}`, { cause });
  });
  // A zip, as of .xlsx and .ods, or an old .xls.
  if (/^(504b|d0cf11e0)/.test(head.toString("hex", 0, 4)))
    throw new InputError(`${path}: is a workbook or an archive. Save it as "CSV UTF-8".`);
  const encoding = await encodingIn(path, head, given);
  const beginning = new TextDecoder(encoding).decode(head);
  if (/^\s*[[{]\s*["{]/.test(beginning)) throw new InputError(`${path}: is JSON, and only CSV is read.`);
  const delimiter = delimiterOf(beginning);
  const isNamed = /^"?sep=/.test(beginning);
  const records = () => recordsOf(path, { encoding, delimiter, isNamed });
  const first = await records().next();
  if (first.done === true) throw new InputError(`${path}: is empty.`);
  const written = first.value.map((cell) => cell.trim());
  const end = written.indexOf(reasonHeading) + 1;
  // Without what a report adds: marks, and the blank cells that a spreadsheet writes behind the reason.
  const plain = (cells: readonly string[]) => {
    const isPadded = isBlankFrom(end, written) && isBlankFrom(end, cells);
    return end === 0 ? cells : (isPadded ? cells.slice(0, end) : cells).map(withoutMark);
  };
  const headings = plain(written);
  if (headings.some((heading) => isOfAddresses(heading)))
    throw new InputError(
      `${path}: its first row holds an e-mail address. The first row must be the headings: email, first_name, …`,
    );
  return {
    path,
    headings,
    names: distinct(headings, (name, count) => `${name} (${count})`),
    encoding,
    delimiter,
    async *rows() {
      let number = 0;
      for await (const cells of records()) {
        number += 1;
        if (number > 1 && cells.some((cell) => cell.trim() !== ""))
          yield new CsvRow({ number, headings, cells: plain(cells) });
      }
    },
  };
}

/** The names with a number behind each that comes again, which makes it another one. */
export function distinct(
  names: readonly string[],
  numbered: (name: string, count: number) => string,
): string[] {
  const used = new Set(names);
  return names.map((name, index) => {
    if (names.indexOf(name) === index) return name;
    let count = 2;
    while (used.has(numbered(name, count))) count++;
    used.add(numbered(name, count));
    return numbered(name, count);
  });
}

async function* recordsOf(
  path: string,
  { encoding, delimiter, isNamed }: { encoding: string; delimiter: string; isNamed: boolean },
): AsyncGenerator<string[]> {
  const from = isNamed ? 2 : 1;
  const parser = parse({
    delimiter,
    record_delimiter: ["\r\n", "\n", "\r"],
    max_record_size: longestRecord,
    from,
    // Rows of another length are kept and reported by number, and do not end the whole file.
    relax_column_count: true,
  });
  // Invalid bytes are an error, because names would be stored damaged.
  const decoder = new TextDecoderStream(encoding, { fatal: true });
  // An error in the pipeline destroys the parser, so the loop throws it.
  pipeline(Readable.toWeb(createReadStream(path)).pipeThrough(decoder), parser, () => undefined);
  try {
    // Safe: without the option `columns` a record is an array of its cells.
    for await (const record of parser) yield record as string[];
  } catch (cause) {
    throw new InputError(`${path}: ${explained(cause, encoding, from)}`, { cause });
  }
}

function explained(error: unknown, encoding: string, from: number): string {
  if (error instanceof TypeError && "code" in error && error.code === "ERR_ENCODING_INVALID_ENCODED_DATA")
    return (
      `is not ${encoding.toUpperCase()} text. Save it as "CSV UTF-8", or name its encoding: ` +
      "--encoding windows-1252 is what Excel writes in Western Europe and America."
    );
  if (!(error instanceof CsvError)) return String(error);
  // The parser tells the line that it has read to, which may be far behind an open quote.
  const problem = error.message.replace(/at line \d+/, `in row ${Number(error["records"]) + 2 - from}`);
  return `${problem}. A quotation mark inside a cell is written twice, and the whole cell stands in quotation marks.`;
}
