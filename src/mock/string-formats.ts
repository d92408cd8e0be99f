/** The string formats of the service document; where it is silent, the rules of the guide. */

// ISO 8601 also permits a decimal comma, and offsets of hours alone or without a colon.
const TIME = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d([.,]\d+)?)?(Z|[+-]([01]\d|2[0-3])(:?[0-5]\d)?)?$/;

/** A day of the calendar, `YYYY-MM-DD`; not 2023-02-29. */
export function isDay(value: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(`${value}T00:00:00Z`) : Number.NaN;
  // `Date` may take February 29 for March 1.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}

/** A day, `T` and a time; seconds and offset are optional. */
export function isDateTime(value: string): boolean {
  return value.charAt(10) === "T" && isDay(value.slice(0, 10)) && TIME.test(value.slice(11));
}

/** An absolute URL of HTTP. `URL.canParse` of Node 20 and 22 refuses hosts such as `bücher.example` once it is called often. */
export function isUrl(value: string): boolean {
  try {
    return /^https?:$/.test(new URL(value).protocol);
  } catch {
    return false;
  }
}

/** Characters around at least one `@`, without whitespace. */
export function isEmail(value: string): boolean {
  return /^[^\s]+@[^\s]+$/.test(value);
}

export function isCountryCode(value: string): boolean {
  return /^[A-Za-z]{2}$/.test(value);
}

export function isIpAddress(value: string): boolean {
  const parts = value.split(".");
  const isIpv4 =
    parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
  // The host of a URL has the syntax of IPv6 in brackets.
  return isIpv4 || (/^[\da-f:.]+$/i.test(value) && URL.canParse(`http://[${value}]`));
}

/** Common short forms that the language data lacks. */
const SHORT_FORMS: Readonly<Record<string, string>> = {
  usa: "US",
  "u.s.": "US",
  "u.s.a.": "US",
  america: "US",
  "united states of america": "US",
  uk: "GB",
  "u.k.": "GB",
  britain: "GB",
  "great britain": "GB",
  england: "GB",
  uae: "AE",
  holland: "NL",
  "the netherlands": "NL",
  "czech republic": "CZ",
  turkey: "TR",
  "south korea": "KR",
  russia: "RU",
  "russian federation": "RU",
  "republic of korea": "KR",
  "republic of ireland": "IE",
  "viet nam": "VN",
  "ivory coast": "CI",
  myanmar: "MM",
  palestine: "PS",
  "hong kong": "HK",
  macau: "MO",
  macao: "MO",
};

/** A name in one form: `Côte d’Ivoire`, `Bosnia & Herzegovina`, `St. Lucia`. */
function plainName(name: string): string {
  return name
    .normalize("NFKD")
    .replace(/\p{M}|['’]/gu, "")
    .trim()
    .toLowerCase()
    .replace(/ & /g, " and ")
    .replace(/^saint /, "st. ");
}

let codesByName: Map<string, string> | undefined;

/** The English names of all regions, from the runtime's language data; built at the first use. */
function loadCodesByName(): Map<string, string> {
  const names = new Intl.DisplayNames(["en"], { type: "region", fallback: "none" });
  const codes = new Map<string, string>();
  for (let first = 65; first <= 90; first += 1) {
    for (let second = 65; second <= 90; second += 1) {
      const code = String.fromCharCode(first, second);
      // A withdrawn code (DD) has a successor (DE) with the same name.
      if (new Intl.Locale(`und-${code}`).region !== code) continue;
      const name = names.of(code);
      if (name !== undefined && code !== "ZZ") codes.set(plainName(name), code);
    }
  }
  return codes;
}

/**
 * The code of a country, from its code in any case or its English name ("v1 contact": normalized to a country
 * code on write); `undefined` for any other string.
 */
export function countryCodeOf(country: string): string | undefined {
  const name = plainName(country);
  const short = Object.hasOwn(SHORT_FORMS, name) ? SHORT_FORMS[name] : undefined;
  if (short !== undefined) return short;
  if (/^[a-z]{2}$/.test(name)) return name.toUpperCase();
  codesByName ??= loadCodesByName();
  return codesByName.get(name);
}
