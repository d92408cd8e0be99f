import { withAsciiDigits } from "./phone.ts";

/** A text in lower case, for comparisons. The Turkish İ and ı are an i, as I is: nobody knows the language of a cell. */
export function inLowerCase(text: string): string {
  return text
    .normalize("NFC")
    .toLowerCase()
    .replace(/ı|i\u0307/g, "i");
}

/** A word in the form for comparisons: trimmed, in any case. */
export function wordOf(cell: string): string {
  return inLowerCase(cell).trim();
}

// What databases and spreadsheets write for nothing.
const blanks = new Set(["", String.raw`\n`, "<na>", "nat", "nan", "#n/a", "n/a", "null"]);
const zeroDay = /^(0000[-/.]00[-/.]00|00[-/.]00[-/.]0000|0001[-/.]0?1[-/.]0?1|0?1[-/.]0?1[-/.]0001)([ t]|$)/;

/** Whether a word says nothing: a blank, `\N`, `<NA>`, `NaT`, `NaN`, `#N/A`, `null`, or the zero day of a database. */
export function isBlank(word: string): boolean {
  return blanks.has(word) || zeroDay.test(word);
}

const zone = String.raw`z|utc|gmt|[ecmp][sd]t|ak[sd]t|hst|bst|ist|[ce]es?t|wes?t|mes?z|msk|jst|kst|hkt|sgt|a[ecw][sd]t|nz[sd]t|[+-]\d{1,2}:?\d{2}`;
const time = String.raw`[\s,T]*\d{1,2}[:.]\d{2}([:.]\d{2}([.,]\d+)?)?(\s*(am|pm|a\.m\.|p\.m\.|uhr|h)(?!\p{L}))?`;
const clock = String.raw`(${time})?(\s*(${zone}))?`;
const name = (group: string) => String.raw`(?<${group}>\p{L}[\p{L}\p{M}]{1,12})\.?`;
const days = [
  String.raw`\d{4}([-/.]|\s?年\s?|\s?년\s?)\d{1,2}([-/.]|\s?月\s?|\s?월\s?)\d{1,2}\s?(日|일)?\.?`,
  String.raw`\d{1,2}[-/.]\s?\d{1,2}[-/.]\s?(\d{4}|\d{2})`,
  String.raw`(19|20)\d{6}(\d{6})?`,
  String.raw`1\d{9}(\d{3})?`,
];
const moment = new RegExp(`^(${days.join("|")})${clock}$`, "iu");
const namedDays = [
  String.raw`\d{1,2}(st|nd|rd|th|\.|º)?[\s-]+(of\s|de\s)?${name("month")},?[\s-]+(de\s)?\d{4}`,
  String.raw`(${name("weekday")},?\s)?${name("month")}\s\d{1,2}(st|nd|rd|th)?,?\s\d{4}`,
].map((day) => new RegExp(`^${day}${clock}$`, "iu"));

/** Whether the cell is a day or a time, and nothing else, in any script. A day that stands for none is no day. */
export function isMoment(cell: string): boolean {
  // Most cells have no digit.
  if (!/\p{Nd}/u.test(cell)) return false;
  const text = withAsciiDigits(cell.trim());
  if (moment.test(text)) return !isPlaceholder(text, 3);
  return isNamedDay(text) && !isPlaceholder(text, 2);
}

/** What programs write where there is no day: the first or the last one that they know, or a zero. */
function isPlaceholder(text: string, numbersOfDay: number): boolean {
  const written = text.replace(/^((?:19|20)\d\d)(\d\d)(\d\d)(?=\d{6}$|\D|$)/, "$1-$2-$3").match(/\d+/g) ?? [];
  const day = written.slice(0, numbersOfDay);
  // The seconds of a clock.
  if (day[0]!.length > 4) return false;
  const at = day.findIndex((one) => one.length === 4);
  const number = Number(day.at(at));
  const year = at >= 0 ? number : number + (number === 69 || number === 70 ? 1900 : 2000);
  const others = day.toSpliced(at, 1).map(Number);
  if (others.includes(0) || year <= 1900 || year === 9999) return true;
  if (year === 1970) return others.every((one) => one === 1);
  return year === 1969 && others.includes(31) && others.every((one) => one === 31 || one === 12);
}

// "5. März 2024", "Fri, Jan 5, 2024": beside any other word a day is no day.
function isNamedDay(text: string): boolean {
  const names = namedDays.map((day) => day.exec(text)?.groups).find((groups) => groups !== undefined);
  return names !== undefined && Object.values(names).every((one) => one === undefined || isName(one));
}

const plainName = (text: string) =>
  text
    .toLowerCase()
    .normalize("NFD")
    .replace(/[\p{M}.]/gu, "");

/** Whether it is the name of a month or a day of the week, in the languages that exports are written in. */
function isName(word: string): boolean {
  calendarNames ??= namesOfCalendar();
  return calendarNames.has(plainName(word));
}

let calendarNames: ReadonlySet<string> | undefined;
const languages = "en de fr es it pt nl da sv nb fi pl cs sk sl hr hu ro bg el tr ru uk et lv lt ca id";

function namesOfCalendar(): Set<string> {
  const names = new Set<string>(["sept"]);
  for (const language of languages.split(" "))
    for (const style of ["long", "short"] as const)
      // With a day some languages write another form of the month.
      for (const options of [
        { month: style },
        { month: style, day: "numeric" },
        { weekday: style },
      ] as const) {
        const format = new Intl.DateTimeFormat(language, { ...options, timeZone: "UTC" });
        for (let index = 0; index < 12; index++)
          for (const { type, value } of format.formatToParts(Date.UTC(2024, index, index + 1)))
            if (type === "month" || type === "weekday") names.add(plainName(value));
      }
  return names;
}

/** The parts of a list: of `[45, 12]` and of `a;b`. A word without a separator is one part. */
export function partsOf(word: string): string[] {
  return word
    .replace(/^[[({](.*)[\])}]$/s, "$1")
    .split(/[,;|\n]/)
    .map((part) => part.replace(/^\s*["']?|["']?\s*$/g, ""))
    .filter((part) => part !== "");
}
