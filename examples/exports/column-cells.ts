import type { CsvFile } from "./csv-file.ts";
import { isOfAddresses } from "./identifiers.ts";
import { isBlank, isMoment, partsOf, wordOf } from "./words.ts";

// A state has few words; a name, a note or a number has more.
const mostWords = 12;
const longestWord = 120;

/** The word of the map that stands for every day and time. */
export const anyDate = "<date>";

/** What the cells of a column are, over all rows. */
export class ColumnCells {
  /** How many people have each word; a day or time is `<date>`. No more than 13 are kept. */
  readonly words = new Map<string, number>();
  readonly #parts = new Set<string>();
  #rows = 0;
  #filled = 0;
  #addresses = 0;
  #data = 0;
  #hasAmount = false;

  add(cell: string | undefined): void {
    this.#rows += 1;
    const word = cell === undefined ? "" : wordOf(cell);
    if (cell === undefined || isBlank(word)) return this.#count("");
    this.#filled += 1;
    // A column of many words is known to be data; whether it is of addresses or numbers still counts.
    if (this.isMany && this.#filled > 1_000) return;
    if (isOfAddresses(cell)) this.#addresses += 1;
    if (isMoment(cell)) return this.#count(anyDate);
    if (isData(cell)) this.#data += 1;
    if (/^-?\d+[.,]\d*[1-9]\d*$/.test(cell) || /^-?\d{4,}$/.test(cell)) this.#hasAmount = true;
    this.#count(word);
    if (this.#parts.size <= mostWords) for (const part of partsOf(word)) this.#parts.add(part);
  }

  #count(word: string): void {
    const count = this.words.get(word);
    if (count !== undefined) this.words.set(word, count + 1);
    else if (this.words.size <= mostWords + 2) this.words.set(word, 1);
  }

  get isMany(): boolean {
    return this.#own.length > mostWords && this.#parts.size > mostWords;
  }

  get isBlank(): boolean {
    return this.#filled === 0;
  }

  get areAddresses(): boolean {
    return this.#addresses > 0 && this.#addresses * 2 >= this.#filled;
  }

  /** The different words, without a blank and the days. */
  get #own(): string[] {
    return [...this.words.keys()].filter((word) => word !== "" && word !== anyDate);
  }

  /** The words of a list of codes, if the cells are lists. */
  get parts(): readonly string[] {
    return this.#own.length > mostWords ? [...this.#parts] : [];
  }

  /** Whether a part of the cells, and not all, are days. */
  get areDaysOfSome(): boolean {
    // One row cannot show whether everybody has a day.
    return this.words.has(anyDate) && (this.words.has("") || this.#rows === 1);
  }

  /** Whether many people have the same few words. */
  get #areShared(): boolean {
    return this.#filled >= 2 * this.#own.length;
  }

  /**
   * Whether the cells look like a state, in any language: few words, flags, lists of codes, or days of some. Where all
   * have the same word, nobody can know whether it is a state. Numbers, codes and long texts are data only while they
   * differ from person to person.
   */
  get areStates(): boolean {
    const own = this.#own;
    if (own.length === 0) return this.areDaysOfSome;
    if (this.isMany || this.#addresses === this.#filled) return false;
    if (this.#areShared) return true;
    const areAmounts = this.#hasAmount && own.every((word) => /^[-+]?\d+([.,]\d+)?$/.test(word));
    return this.#data < this.#filled && !areAmounts;
  }
}

// An address, a number to call, a link, a long text, or a code.
function isData(cell: string): boolean {
  return (
    cell.length > longestWord ||
    isOfAddresses(cell) ||
    /^[+(]?\d[\d\s()./-]{6,24}$/.test(cell) ||
    /^(https?:\/\/|www\.)/i.test(cell) ||
    /^(?=\S*\d)(?=\S*[a-f_-])[\w-]{10,}$/i.test(cell) ||
    /^\d{1,3}(\.\d{1,3}){3}$/.test(cell)
  );
}

/** Reads these columns of a file to its end. */
export async function readColumns(
  file: CsvFile,
  indexes: readonly number[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<number, ColumnCells>> {
  const columns = new Map(indexes.map((index) => [index, new ColumnCells()]));
  if (columns.size === 0) return columns;
  for await (const row of file.rows()) {
    signal?.throwIfAborted();
    if (row.isMisshapen) continue;
    for (const [index, cells] of columns) cells.add(row.cell(index));
  }
  return columns;
}
