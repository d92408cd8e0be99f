import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { InputError } from "../console/program.ts";
import { withoutMark } from "./csv-cell.ts";
import { decoded, delimiterNames, delimitersOf, type Delimiter, encodingIn } from "./csv-format.ts";
import { CsvRow, reasonHeading } from "./csv-row.ts";
import { isOfAddresses } from "./identifiers.ts";

/** A CSV file whose headings have been read. */
export interface CsvFile {
  readonly path: string;
  readonly headings: readonly string[];
  /** The names of the columns in a map: a second `Tag` is `Tag (2)`. */
  readonly names: readonly string[];
  readonly encoding: string;
  /** "comma", "semicolon", "tab" */
  readonly delimiterName: string;
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
  const head = await firstBytes(path);
  if (head[0] === 0x50 && head[1] === 0x4b)
    throw new InputError(`${path}: is a workbook or an archive. Save it as "CSV UTF-8".`);
  const encoding = await encodingIn(path, head, given);
  const beginning = new TextDecoder(encoding).decode(head);
  const [delimiter = ",", ...others] = delimitersOf(beginning);
  if (others.length > 0) throw unknownDelimiter(path, [delimiter, ...others]);
  const isNamed = /^"?sep=/.test(beginning);
  const records = () => recordsOf(path, { encoding, delimiter, isNamed });
  const first = await records().next();
  if (first.done === true) throw new InputError(`${path}: is empty.`);
  const written = first.value.map((cell) => cell.trim());
  // The marks of a report are no part of the cells that it was made of.
  const plain = (cells: readonly string[]) =>
    written.includes(reasonHeading) ? cells.map(withoutMark) : cells;
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
    delimiterName: delimiterNames[delimiter],
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

function unknownDelimiter(path: string, delimiters: readonly Delimiter[]): InputError {
  const names = delimiters.map((one) => delimiterNames[one]).join(" or a ");
  const lines = delimiters.map((one) => (one === "\t" ? "sep= with a tab" : `sep=${one}`)).join(" or ");
  return new InputError(
    `${path}: nobody knows whether a ${names} is between its cells. Write it as a line above the headings: ${lines}.`,
  );
}

async function firstBytes(path: string): Promise<Uint8Array> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    return buffer.subarray(0, bytesRead);
  } catch (cause) {
    throw new InputError(`${path}: ${messageOf(cause)}`, { cause });
  }
}

async function* recordsOf(
  path: string,
  { encoding, delimiter, isNamed }: { encoding: string; delimiter: Delimiter; isNamed: boolean },
): AsyncGenerator<string[]> {
  const parser = parse({
    delimiter,
    record_delimiter: ["\r\n", "\n", "\r"],
    max_record_size: longestRecord,
    from: isNamed ? 2 : 1,
    // Rows of another length are kept and reported by number, and do not end the whole file.
    relax_column_count: true,
  });
  // An error in the pipeline destroys the parser, so the loop throws it.
  pipeline(
    createReadStream(path),
    (bytes: AsyncIterable<Uint8Array>) => decoded(bytes, encoding),
    parser,
    () => undefined,
  );
  try {
    // Safe: without the option `columns` a record is an array of its cells.
    for await (const record of parser) yield record as string[];
  } catch (cause) {
    throw new InputError(`${path}: ${explained(cause, encoding)}`, { cause });
  }
}

const hints: Readonly<Record<string, string>> = {
  INVALID_OPENING_QUOTE:
    "a quotation mark is inside a cell. Double it, and put the whole cell into quotation marks.",
  CSV_INVALID_CLOSING_QUOTE:
    "text follows a cell's closing quotation mark. A quotation mark inside a cell is written twice.",
  CSV_QUOTE_NOT_CLOSED: "a quotation mark is never closed, or a row is too long.",
  CSV_MAX_RECORD_SIZE: "a quotation mark is never closed, or a row is too long.",
};

function explained(error: unknown, encoding: string): string {
  if (error instanceof TypeError && "code" in error && error.code === "ERR_ENCODING_INVALID_ENCODED_DATA") {
    return (
      `is not ${encoding.toUpperCase()} text. Save it as "CSV UTF-8", or name its encoding: ` +
      "--encoding windows-1252 is what Excel writes in Western Europe and America."
    );
  }
  if (!(error instanceof CsvError)) return messageOf(error);
  const { lines } = error as CsvError & { lines?: number };
  return `${lines === undefined ? "" : `line ${lines}: `}${hints[error.code] ?? error.message}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
