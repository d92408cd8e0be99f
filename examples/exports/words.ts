import { withAsciiDigits } from "./contact-values.ts";

/** The word of the map that stands for every day and time. */
export const anyDate = "<date>";

/** The word of the map that stands for every word that it does not name. */
export const anyOther = "*";

/** A word in the form for comparisons: trimmed, in any case. The Turkish İ and ı are an i, as I is. */
export function wordOf(cell: string): string {
  return cell
    .normalize("NFC")
    .toLowerCase()
    .replace(/ı|i\u0307/g, "i")
    .trim();
}

// What databases and spreadsheets write for nothing.
const blanks = new Set(["", String.raw`\n`, "<na>", "nat", "nan", "#n/a", "n/a", "null"]);
const zeroDay = /^(0000[-/.]00[-/.]00|00[-/.]00[-/.]0000|0001[-/.]0?1[-/.]0?1|0?1[-/.]0?1[-/.]0001)([ t]|$)/;

/** Whether a word says nothing: a blank, `\N`, `<NA>`, `NaT`, `NaN`, `#N/A`, `null`, or the zero day of a database. */
export function isBlank(word: string): boolean {
  return blanks.has(word) || zeroDay.test(word);
}

const months =
  "jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?|dec(ember)?";
const weekdays = "(mon|tue(s)?|wed(nes)?|thu(rs)?|fri|sat(ur)?|sun)(day)?";
const days = [
  String.raw`\d{4}[-/.年]\s?\d{1,2}[-/.月]\s?\d{1,2}日?`,
  String.raw`\d{1,2}[-/.]\s?\d{1,2}[-/.]\s?(\d{4}|\d{2})`,
  String.raw`(19|20)\d{6}(\d{6})?|1\d{9}(\d{3})?`,
  String.raw`\d{1,2}(st|nd|rd|th)?[\s-](${months})\.?,?[\s-]\d{4}`,
  String.raw`(${weekdays},?\s)?(${months})\.?\s\d{1,2}(st|nd|rd|th)?,?\s\d{4}`,
].join("|");
const time = String.raw`[\s,T]+\d{1,2}[:.]\d{2}([:.]\d{2}([.,]\d+)?)?(\s?[ap]\.?m\.?)?`;
const zone = String.raw`\s?(z|utc|gmt|[ecmp][sd]t|cest|[+-]\d{1,2}(:?\d{2})?)`;
const moment = new RegExp(`^(${days})(${time})?(${zone})?$`, "i");
// The first and the last day that programs know, and a day with a zero in it, stand for none.
const noDay =
  /^(0000|0001|1899|1900|9999|1970\D0?1\D0?1(?!\d)|1969\D12\D31)|(0000|0001|1899|1900|9999|0?1\D0?1\D1970|31\D1?2?\D?1969|12\D31\D1969)$|^jan\w* 0?1,? 1970|(?<!\d)0{1,2}(?=[-/.])|-00$/i;

/** Whether the cell is a day or a time, and nothing else, in digits or with English names. */
export function isMoment(cell: string): boolean {
  // Most cells have no digit.
  if (!/\p{Nd}/u.test(cell)) return false;
  const text = withAsciiDigits(cell.trim());
  return moment.test(text) && !noDay.test(text.replace(new RegExp(`${time}(${zone})?$`, "i"), ""));
}

/** Whether a text in any language holds a day: a year of four digits, or a whole day in digits. */
export const holdsDay = (text: string) =>
  /(?<!\d)((1[349]|2[05])\d\d(?!\d)|\d{1,2}[-/.]\d{1,2}[-/.]\d{2}|\d[年년])/.test(withAsciiDigits(text));

/** The parts of a list: of `[45, 12]` and of `a;b`. A word without a separator is one part. */
export function partsOf(word: string): string[] {
  return word
    .replace(/^[[({](.*)[\])}]$/s, "$1")
    .split(/[,;|\n]/)
    .map((part) => part.replace(/^\s*["']?|["']?\s*$/g, ""))
    .filter((part) => part !== "");
}
