import { withAsciiDigits } from "./phone.ts";

/** A word in the form for comparisons: trimmed, in any case. */
export function wordOf(cell: string): string {
  return cell.normalize("NFC").trim().toLowerCase();
}

// What databases and spreadsheets write for nothing.
const blanks = new Set(["", String.raw`\n`, "<na>", "nat", "nan", "#n/a", "n/a", "null"]);
const zeroDay = /^(0001-01-01|0000-00-00|00[/.]00[/.]0000)([ t]|$)/;

/** Whether a word says nothing: a blank, `\N`, `<NA>`, `NaT`, `NaN`, `#N/A`, `null`, or the zero day of a database. */
export function isBlank(word: string): boolean {
  return blanks.has(word) || zeroDay.test(word);
}

const clock = String.raw`[\s,T]*(\d{1,2}[:.]\d{2}([:.]\d{2}([.,]\d+)?)?)?\s*(am|pm|a\.m\.|p\.m\.|uhr|h)?\s*(z|utc|gmt|[A-Z]{2,4}T|[+-]\d{1,2}:?\d{2})?`;
const name = String.raw`\p{L}[\p{L}\p{M}]{2,12}\.?`;
const days = [
  String.raw`\d{4}([-/.]|\s?年\s?|\s?년\s?)\d{1,2}([-/.]|\s?月\s?|\s?월\s?)\d{1,2}\s?(日|일)?\.?`,
  String.raw`\d{1,2}[-/.]\s?\d{1,2}[-/.]\s?(\d{4}|\d{2})`,
  String.raw`\d{1,2}(st|nd|rd|th|\.|º)?[\s-]+(of\s|de\s)?${name},?[\s-]+(de\s)?\d{4}`,
  String.raw`(${name},?\s)?${name}\s\d{1,2}(st|nd|rd|th)?,?\s\d{4}`,
  String.raw`(19|20)\d{6}(\d{6})?`,
  String.raw`1\d{9}(\d{3})?`,
];
const moment = new RegExp(`^(${days.join("|")})${clock}$`, "iu");

/** Whether the cell is a day or a time, and nothing else, in any script. */
export function isMoment(cell: string): boolean {
  // Most cells have no digit.
  return /\p{Nd}/u.test(cell) && moment.test(withAsciiDigits(cell.trim()));
}

/** The parts of a list: of `[45, 12]` and of `a;b`. A word without a separator is one part. */
export function partsOf(word: string): string[] {
  return word
    .replace(/^[[({](.*)[\])}]$/s, "$1")
    .split(/[,;|\n]/)
    .map((part) => part.replace(/^\s*["']?|["']?\s*$/g, ""))
    .filter((part) => part !== "");
}
