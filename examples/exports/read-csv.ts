import { readFile } from "node:fs/promises";
import { parse } from "csv-parse/sync";
import { CsvRow } from "./csv-row.ts";

/** A file that cannot be read as CSV in UTF-8. The message names the file. */
export class CsvFileError extends Error {
  override readonly name = "CsvFileError";
}

/** A CSV file: its headings, and its rows without the empty lines (which still count in the rows' numbers). */
export interface CsvFile {
  readonly headings: readonly string[];
  readonly rows: readonly CsvRow[];
}

/** Reads a CSV file in UTF-8, with or without a byte-order mark, with any line ends. */
export async function readCsv(path: string): Promise<CsvFile> {
  const records = parseRecords(path, decodeUtf8(path, await readBytes(path)));
  const headings = (records[0] ?? []).map((heading) => heading.trim());
  const rows = records
    .map((cells, index) => new CsvRow({ number: index + 1, headings, cells }))
    .slice(1)
    .filter((row) => row.cells.some((cell) => cell.trim() !== ""));
  return { headings, rows };
}

async function readBytes(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new CsvFileError(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

// Another encoding read as UTF-8 would store broken names without a word: so it is refused.
function decodeUtf8(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CsvFileError(`${path}: is not UTF-8 text. Save it as "CSV UTF-8" and try again.`, { cause });
  }
}

function parseRecords(path: string, text: string): string[][] {
  try {
    // Rows of another length are kept: each is reported by its number instead of ending the whole file.
    return parse(text, { relax_column_count: true, skip_empty_lines: false });
  } catch (cause) {
    throw new CsvFileError(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
