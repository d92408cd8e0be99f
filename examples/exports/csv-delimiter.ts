import { parse } from "csv-parse/sync";
import { isOfAddresses } from "./identifiers.ts";

const delimiters = [",", ";", "\t", "|"] as const;

/** The separator of cells. */
export type Delimiter = (typeof delimiters)[number];

/** The delimiters in words. */
export const delimiterNames: Readonly<Record<Delimiter, string>> = {
  ",": "comma",
  ";": "semicolon",
  "\t": "tab",
  "|": "vertical bar",
};

/**
 * The delimiter with which most rows of the file's beginning have as many cells as headings, most hold a whole address, and
 * there are most headings. Several if the beginning does not decide; a line `sep=;` above the headings always does.
 */
export function delimitersOf(beginning: string): Delimiter[] {
  const sign = /^"?sep=([,;|\t])"?\r?\n/.exec(beginning)?.[1];
  const named = delimiters.find((delimiter) => delimiter === sign);
  if (named !== undefined) return [named];
  const ranked = delimiters
    .map((delimiter) => ({ delimiter, fit: fit(beginning, delimiter) }))
    .toSorted((one, other) => compare(other.fit, one.fit));
  const best = ranked[0]!.fit;
  if (best[2] < 2) return [","];
  return ranked.filter((one) => compare(one.fit, best) === 0).map(({ delimiter }) => delimiter);
}

/** The share of rows with as many cells as headings, where those are more than one; that with an address; the headings. */
type Fit = readonly [rows: number, addresses: number, headings: number];

const compare = (one: Fit, other: Fit) =>
  one.map((value, index) => value - other[index]!).find((difference) => difference !== 0) ?? 0;

function fit(beginning: string, delimiter: Delimiter): Fit {
  const [headings = [], ...rows] = recordsIn(beginning, delimiter);
  if (headings.length < 2) return [0, 0, headings.length];
  const share = (fits: (cells: readonly string[]) => boolean) =>
    rows.length === 0 ? 1 : rows.filter(fits).length / rows.length;
  return [
    share((cells) => cells.length === headings.length),
    share((cells) => cells.some((cell) => isOfAddresses(cell))),
    headings.length,
  ];
}

function recordsIn(beginning: string, delimiter: Delimiter): string[][] {
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
