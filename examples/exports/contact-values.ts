/** The parsed value of a cell, or the problem. */
export type ParsedValue = { readonly value: string } | { readonly problem: string };

// The signs that real addresses hold: words with points between them, and a domain.
const plainAddress =
  /^(?=[\p{L}\p{N}_])[\p{L}\p{M}\p{N}_+'&-]+(\.[\p{L}\p{M}\p{N}_+'&-]+)*@[\p{L}\p{M}\p{N}]+([.-][\p{L}\p{M}\p{N}]+|--+[\p{L}\p{M}\p{N}]+)*$/u;

/** Parses an address to lower case, also from `Ada <ada@…>`, because it identifies a person over several files. */
export function parseEmail(text: string): ParsedValue {
  // Removes invisible characters, as in a copy from a web page.
  const seen = text
    .replace(/\p{Cf}/gu, "")
    .trim()
    .replace(/^mailto:/i, "");
  const email = (/^[^<>@]*<([^<>]+)>$/.exec(seen)?.[1] ?? seen).trim().toLowerCase();
  // The service would accept what is around an address ("(a@…)", "=a@…"), and full-width letters: another contact.
  const isFullWidth = email.normalize("NFC") !== email.normalize("NFKC");
  // Without an @, or with a space, it is refused as any invalid address.
  if (email.includes("@") && (isFullWidth || !plainAddress.test(email.replace(/\s/g, ""))))
    return { problem: `must be one e-mail address, and nothing else: ${quoted(text)}` };
  return { value: email };
}

/** Parses a day: removes the midnight that spreadsheets add, and converts the unambiguous `17.05.1988`. */
export function parseDay(text: string): string {
  const [, day, month, year] = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(text) ?? [];
  if (day && month && year) return `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  return text.replace(/^(\d{4}-\d\d-\d\d)[ T]00:00(:00(\.0+)?)?Z?$/, "$1");
}

/** A string in quotation marks, cut if it is long. */
export function quoted(text: string, most = 30): string {
  return JSON.stringify(text.length > most ? `${text.slice(0, most)}…` : text);
}

/** A word in quotation marks, cut where it is longer than a sentence or two. */
export const quotedWord = (word: string) => quoted(word, 500);

// ITU-T E.164: at most 15 digits, and no country code begins with 0.
const international = /^\+[1-9]\d{6,14}$/;
// Separators of digits: spaces, points, dashes; no slashes ("A / B" is two numbers).
const separators = /[\s.()\-\u00ad\u2010-\u2015\u2212]/gu;

/**
 * Parses a telephone number to `+` and digits.
 *
 * It changes only separators, digits of other scripts, a spreadsheet's leading apostrophe, `00` for `+`, and the `(0)` of a
 * trunk prefix (`+44 (0)20 …`). A number without its country, with an extension, or rounded by a spreadsheet is a
 * problem, never a guess.
 */
export function parsePhone(text: string): ParsedValue {
  const written = withAsciiDigits(text.normalize("NFKC")).trim().replace(/^'/, "");
  const shown = JSON.stringify(text);
  if (/^\d+([.,]\d+)?e\+?\d+$/i.test(written))
    return { problem: `${shown} was rounded by a spreadsheet: its last digits are lost` };
  // Italy and San Marino keep the 0 when they are called from abroad.
  const abroad = written.replace(/^((?:\+|00)\s*(?!39|378)\d{1,3})\s*\(0\)/, "$1");
  const digits = abroad.replace(separators, "").replace(/^00/, "+");
  if (/[^+\d]|.\+/.test(digits)) return { problem: `${shown} holds more than one number, or other text` };
  if (!digits.startsWith("+"))
    return { problem: `${shown} does not name its country: write it with + and the country code` };
  if (!international.test(digits)) return { problem: `${shown} is not a number that any country has` };
  return { value: digits };
}

/** The text with the digits of any script as ASCII: `٠١٧١` becomes `0171`. */
export function withAsciiDigits(text: string): string {
  return text.replace(/(?![0-9])\p{Nd}/gu, (digit) => {
    const point = digit.codePointAt(0)!;
    // Unicode encodes the digits of a script one after the other from 0 on; some sets follow each other.
    let first = point;
    while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first--;
    return String((point - first) % 10);
  });
}
