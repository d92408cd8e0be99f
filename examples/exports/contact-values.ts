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
export function quoted(text: string): string {
  return JSON.stringify(text.length > 30 ? `${text.slice(0, 30)}…` : text);
}
