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
};

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
      if (name !== undefined && code !== "ZZ") codes.set(name.toLowerCase(), code);
    }
  }
  return codes;
}

/**
 * The code of a country, from its code in any case or its English name ("v1 contact": normalized to a country
 * code on write); `undefined` for any other string.
 */
export function countryCodeOf(country: string): string | undefined {
  const name = country.trim().toLowerCase();
  const short = Object.hasOwn(SHORT_FORMS, name) ? SHORT_FORMS[name] : undefined;
  if (short !== undefined) return short;
  if (/^[a-z]{2}$/.test(name)) return name.toUpperCase();
  codesByName ??= loadCodesByName();
  return codesByName.get(name);
}
