import { parseConsent } from "./consent-cells.ts";
import { consentWord } from "./consent-words.ts";
import type { CsvFile } from "./csv-file.ts";
import { isOfAddresses } from "./identifiers.ts";
import { noteHeadings } from "./report-note.ts";

/** What all cells of a column show, where its heading leaves it open. */
export interface ColumnCells {
  /** Whether half of its cells or more are e-mail addresses. */
  readonly areAddresses: boolean;
  /** Whether it is a column of states of a consent: one is known, and few other words are not. */
  readonly areStates: boolean;
}

// A status has few states; a column of regions more.
const mostUnknownStates = 12;

/** Reads these columns of the file to its end. */
export async function readColumns(
  file: CsvFile,
  indexes: readonly number[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<number, ColumnCells>> {
  if (indexes.length === 0) return new Map();
  const reasonIndex = file.headings.indexOf(noteHeadings.reason);
  const counts = indexes.map((index) => ({
    index,
    filled: 0,
    addresses: 0,
    states: 0,
    unknown: new Set<string>(),
  }));
  for await (const row of file.rows()) {
    signal?.throwIfAborted();
    if (row.isMisshapen) continue;
    const reason = row.cell(reasonIndex);
    for (const count of counts) {
      const text = row.cell(count.index);
      if (text === undefined || consentWord(text) === "nothing") continue;
      count.filled += 1;
      if (isOfAddresses(text)) count.addresses += 1;
      const said = parseConsent({ question: "state" }, text);
      // A report may hold only those rows of the file whose state is unknown.
      const isReported = reason?.includes(`${file.headings[count.index]}: "`) ?? false;
      if (said !== "not understood" || isReported) count.states += 1;
      else if (count.unknown.size <= mostUnknownStates) count.unknown.add(text.toLowerCase());
    }
  }
  return new Map(
    counts.map(({ index, filled, addresses, states, unknown }) => [
      index,
      {
        areAddresses: addresses > 0 && addresses * 2 >= filled,
        areStates: states > 0 && unknown.size <= mostUnknownStates,
      },
    ]),
  );
}
