import { type CsvFile, reasonHeading } from "./csv-file.ts";
import { isOfAddresses } from "./identifiers.ts";
import { anyDate, holdsDay, isBlank, isMoment, partsOf, wordOf } from "./words.ts";

// A state has few words, or some dozens that people share; names, notes and numbers have more.
const fewWords = 12;
export const mostWords = 50;
const longestWord = 120;
// So many show whether some of them are common; as many long ones would fill the memory.
const keptWords = 1_000;

/** What the cells of a column are, over all rows. */
export class ColumnCells {
  /** How many rows have each word; a day or time is `<date>`. The first `keptWords` are kept. */
  readonly words = new Map<string, number>();
  readonly #parts = new Map<string, number>();
  #rows = 0;
  #filled = 0;
  #addresses = 0;
  #data = 0;
  #withDay = 0;
  #serials = 0;
  #hasAmount = false;

  add(cell: string | undefined): void {
    this.#rows += 1;
    const word = cell === undefined ? "" : wordOf(cell);
    if (cell === undefined || isBlank(word)) return count(this.words, "");
    // A column of that many words is known to be data; its first rows show whether it is of addresses or numbers.
    if (this.#filled > 10 * keptWords && Math.min(this.words.size, this.#parts.size) > mostWords) return;
    this.#filled += 1;
    if (isOfAddresses(cell)) this.#addresses += 1;
    if (isMoment(cell)) return count(this.words, anyDate);
    const isNumber = /^\(?\d[\d\s()./-]{6,24}$/.test(cell);
    if (isNumber || isData(cell)) this.#data += 1;
    // What may be a number to call may also be days: most cells of the column tell.
    if ((isNumber || !isData(cell)) && /[^\d.,]/.test(cell) && holdsDay(cell)) this.#withDay += 1;
    // A spreadsheet counts the days, here from 1982 to 2064.
    if (/^[3-5]\d{4}([.,]\d+)?$/.test(cell)) this.#serials += 1;
    if (/^-?\d+[.,]\d*[1-9]\d*$/.test(cell) || /^-?\d{4,}$/.test(cell)) this.#hasAmount = true;
    count(this.words, word);
    for (const part of partsOf(word)) count(this.#parts, part);
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

  /** Whether they are one or two words that people share: "ja" and "nein", 1 and 0. */
  get areFlags(): boolean {
    const words = this.#own.length;
    return words > 0 && words <= 2 && this.#filled > words;
  }

  /** The words of a list of codes, if the cells are lists, and how many rows have each. */
  get parts(): ReadonlyMap<string, number> {
    const words = this.#own.length;
    return words > fewWords && this.#parts.size < words ? this.#parts : new Map();
  }

  /** Whether a tenth of the cells has one word, or days: the others may be remarks. Amounts are no words. */
  get #hasCommonWord(): boolean {
    const atLeast = Math.max(3, this.#filled / 10);
    return [...this.words].some(([word, rows]) => rows >= atLeast && /\p{L}/u.test(word));
  }

  /**
   * Whether the cells look like a state, in any language: few words, flags, lists of codes, days of some, days beside words,
   * or a word of many. Where all have the same word, nobody can know whether it is a state. Of up to 12 words, numbers,
   * codes and long texts are data only while each person has another one; up to 50 words are asked if there are twice as
   * many people. More are data, unless a tenth of them share one, and so are more than 12 numbers.
   */
  get areStates(): boolean {
    const own = this.#own;
    const days = this.words.get(anyDate) ?? 0;
    // One row cannot show whether everybody has a day.
    if (Math.max(days, this.#serials) === this.#filled)
      return this.#filled > 0 && (this.words.has("") || this.#rows === 1);
    if (this.#addresses === this.#filled) return false;
    if (this.#withDay * 2 >= this.#filled || this.#hasCommonWord) return true;
    const areNumbers = own.every((word) => /^[-+]?\d+([.,]\d+)?$/.test(word));
    if (Math.min(own.length, this.#parts.size) > fewWords)
      return (
        !areNumbers && (areShared(own.length, this.#filled) || areShared(this.#parts.size, sum(this.#parts)))
      );
    const areAmounts = areNumbers && this.#hasAmount;
    // Many have an amount of zero.
    const zeros = areAmounts ? Math.max(0, (this.words.get("0") ?? 0) - 1) : 0;
    if (this.#filled - zeros > own.length) return true;
    return this.#data < this.#filled && !areAmounts;
  }
}

function count(words: Map<string, number>, word: string): void {
  const known = words.get(word);
  if (known !== undefined) words.set(word, known + 1);
  else if (words.size < (word.length > longestWord ? mostWords + 3 : keptWords)) words.set(word, 1);
}

const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((all, one) => all + one, 0);

const areShared = (words: number, people: number) => words <= mostWords && people >= 2 * words;

// An address, a number with its country, a link, a long text, or a code; not a word with a number behind it ("opt-out-01").
function isData(cell: string): boolean {
  return (
    cell.length > longestWord ||
    isOfAddresses(cell) ||
    /^\+\d[\d\s()./-]{6,24}$/.test(cell) ||
    /^(https?:\/\/|www\.)/i.test(cell) ||
    (/^(?=\S*\d)(?=\S*[a-f_-])[\w-]{10,}$/i.test(cell) && !/^[a-z]+([-_][a-z]+)*[-_]?\d{1,4}$/i.test(cell)) ||
    /^\d{1,3}(\.\d{1,3}){3}$/.test(cell)
  );
}

/** Reads the columns of a file to its end, by their names. */
export async function readColumns(
  file: CsvFile,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ColumnCells>> {
  const names = file.names.filter((name) => name !== reasonHeading);
  const columns = new Map(names.map((name) => [name, new ColumnCells()]));
  for await (const row of file.rows()) {
    signal.throwIfAborted();
    if (row.shapeIssue) continue;
    for (const [index, name] of file.names.entries()) columns.get(name)?.add(row.cell(index));
  }
  return columns;
}
