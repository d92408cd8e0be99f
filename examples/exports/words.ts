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

const monthNames =
  "jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?|dec(ember)?";
const weekdays = "(mon|tue(s)?|wed(nes)?|thu(rs)?|fri|sat(ur)?|sun)(day)?";
// A zero stands for no day, and so does a year of no calendar of today, or the one in which spreadsheets begin to count.
const [mm, dd] = ["(?:0[1-9]|1[0-2])", String.raw`(?:0[1-9]|[12]\d|3[01])`];
const [month, day] = [`(?:${mm}|[1-9])`, `(?:${dd}|[1-9])`];
const year = String.raw`(?!1900)(?:1[349]|2[05])\d\d`;
const sign = String.raw`(?:\s*[-/._年月]\s*|\s+)`;
const days = [
  `${year}${sign}${month}${sign}${day}日?`,
  String.raw`(${day}${sign}${month}|${month}${sign}${day})${sign}(${year}|\d\d)|\d\d${sign}${month}${sign}${day}`,
  String.raw`${day}(st|nd|rd|th)?[\s-](${monthNames})\.?,?[\s-]${year}|${year}-(${monthNames})-${day}`,
  String.raw`(${weekdays},?\s)?(${monthNames})\.?\s${day}(st|nd|rd|th)?,?\s${year}`,
  // Digits alone: a day, also with its time, or a Unix time in s, ms or µs, which a spreadsheet may have rounded.
  String.raw`(?!1900)(19|20)\d\d${mm}${dd}([\sT-]?[0-2]\d[0-5]\d([0-5]\d(\.?\d{3})?)?)?`,
  String.raw`(${dd}${mm}|${mm}${dd})(?!1900)(19|20)\d\d|1\d{9}(\d{3}){0,2}(\.\d+)?|(1[.,]\d+e\+12|2[.,]0\d+e\+13)`,
].join("|");
const months = String.raw`${year}${sign}${month}|(${month}${sign}|(${monthNames})[\s.,-]+)${year}|(?!1900)(19|20)\d\d${mm}`;
const time = String.raw`[\s,T]+\d{1,2}[:.-]\d{2}([:.-]\d{2}([.,]\d+)?)?(\s?[ap]\.?m\.?)?`;
const zone = String.raw`\s?(z|utc|gmt|[ecmp][sd]t|cest|[+-]\d{1,2}(:?\d{2})?)`;
const moment = new RegExp(
  String.raw`^\(?((${days})\.?(${time}(${zone})?|z|[+-]\d\d:\d\d)?|(${months})\.?)\)?$`,
  "i",
);
// The first day that programs know, and the evening before it in America, stand for none.
const firstDay =
  /^\(?([a-z]+,?\s)?(1970(0101|\D+0?1\D+0?1(?!\d))|((0?1(st)?|jan\w*)\W+){2}1970|1969(1231|\D+12\D+31)|(31\W+(12|dec\w*)|(12|dec\w*)\W+31)\W+1969)/i;

/** Whether the cell is a day, a month of a year or a time, and nothing else, in digits or with English names. */
export function isMoment(cell: string): boolean {
  // Most cells have no digit.
  if (!/\p{Nd}/u.test(cell)) return false;
  const text = withAsciiDigits(cell.replace(/\p{Cf}/gu, "").trim());
  return moment.test(text) && !firstDay.test(text);
}

const dayInside = new RegExp(
  String.raw`(?<!\d)${year}(?!\d)|(?<!\d[-/.]?)\d{1,2}(\s?[-/.]\s?\d{1,2}){2}(?![-/.]?\d)|^${month}[-/]\d\d$|\d[年년]`,
);

/** Whether a text in any language holds a day: a year of four digits, or a whole day in digits. */
export const holdsDay = (text: string) => dayInside.test(withAsciiDigits(text));

/** The parts of a list: of `[45, 12]` and of `a;b`. A word without a separator is one part, and so is `[ ]`. */
export function partsOf(word: string): string[] {
  const parts = word
    .replace(/^[[({](.*)[\])}]$/s, "$1")
    .split(/[,;|\n]/)
    .map((part) => part.replace(/^\s*["']?|["']?\s*$/g, ""))
    .filter((part) => part !== "");
  return parts.length > 0 ? parts : [word];
}
