import { parse } from "csv-parse/sync";

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

/** The delimiter with which most rows of the file's beginning have as many cells as headings. */
export function delimiterOf(beginning: string): Delimiter {
  const named = /^"?sep=([,;|\t])"?\r?\n/.exec(beginning)?.[1];
  const ranked = delimiters.map((delimiter) => ({ delimiter, ...fit(beginning, delimiter) }));
  const best = ranked.reduce((one, other) => (isBetter(other, one) ? other : one));
  return delimiters.find((delimiter) => delimiter === named) ?? best.delimiter;
}

interface Fit {
  /** How much of the beginning's rows have as many cells as the headings, where those are more than one. */
  readonly share: number;
  readonly columns: number;
}

const isBetter = (one: Fit, other: Fit) =>
  one.share > other.share || (one.share === other.share && one.columns > other.columns);

function fit(beginning: string, delimiter: Delimiter): Fit {
  const [headings = [], ...rows] = recordsIn(beginning, delimiter);
  if (headings.length < 2) return { share: 0, columns: headings.length };
  const fitting = rows.filter((cells) => cells.length === headings.length).length;
  return { share: rows.length === 0 ? 1 : fitting / rows.length, columns: headings.length };
}

function recordsIn(beginning: string, delimiter: Delimiter): string[][] {
  const records: string[][] = [];
  try {
    parse(wholeLines(beginning), {
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

// The beginning may end in the middle of a row.
function wholeLines(text: string): string {
  const end = text.lastIndexOf("\n");
  return end === -1 ? text : text.slice(0, end);
}
