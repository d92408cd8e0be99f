import { domainToASCII } from "node:url";
import { parsePhone, withAsciiDigits } from "./phone.ts";

/** An address in the form for comparisons: `a@müller.de` is `a@xn--mller-kva.de`, and `ö` one letter. */
export function comparableEmail(email: string): string {
  // Most addresses are in this form.
  if (/^[ -~]*$/.test(email)) return email;
  const at = email.lastIndexOf("@") + 1;
  const domain = email.slice(at);
  return email.slice(0, at).normalize("NFC") + (domainToASCII(domain) || domain.normalize("NFC"));
}

// Any prefix may stand before a number, so only its last digits are compared, or all of a shorter one.
const endLengths = [4, 5, 6, 7, 8];
const longestEnd = 8;

/**
 * The addresses and numbers anywhere in a cell, whatever is around them. Of a number without its country only the last
 * digits; of a number that a spreadsheet has rounded, the rounded form.
 */
export function identifiersIn(cell: string, mayBeShort: boolean): string[] {
  const seen = withAsciiDigits(cell.normalize("NFKC").replace(/\p{Cf}|(?!\s)\p{Cc}/gu, ""));
  const text = withoutCodes(seen).toLowerCase();
  // Spaces may be around the @ and the points, or anywhere.
  const written = text.includes("@")
    ? [text, text.replace(/\s*([@.])[\s.]*/g, "$1").replace(/\.+@/g, "@"), text.replace(/\s/g, "")]
    : [];
  const addresses = written.flatMap(
    (one) => one.match(/[^\s,;:|<>()[\]"“”„«»@]{1,64}@[\p{L}\p{M}\p{N}.-]{1,255}/gu) ?? [],
  );
  const rounded = text.match(/\d([.,]\d{1,14})?e\+?\d+/g) ?? [];
  const numbers = text.match(/[+\d][\d\s()./\p{Pd}\u2212]*/gu) ?? [];
  return [
    ...addresses
      .flatMap((one) => [one, one.replace(/^[^\p{L}\p{N}_]+|[.-]+$/gu, ""), one.replace(besideAddress, "")])
      .map((one) => comparableEmail(one)),
    ...rounded.map((one) => Number(one.replace(",", ".")).toExponential(Math.max(0, one.indexOf("e") - 2))),
    ...numbers.flatMap((one) => {
      const parsed = parsePhone(one);
      return "value" in parsed ? [parsed.value] : endsIn(one, mayBeShort);
    }),
  ];
}

// "a%40example.com", "a&#64;example.com", "a(at)example.com", and the full stop of Chinese and Japanese.
function withoutCodes(text: string): string {
  return text
    .replace(/%([2-7][\da-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/&#(\d{2,3});/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replace(/\s*[([{]at[)\]}]\s*/gi, "@")
    .replace(/\\[nrt]/g, " ")
    .replaceAll("。", ".");
}

// "email=a@example.com", "_a@example.com_"
const besideAddress = /^_+|^[^@]*[^\p{L}\p{M}\p{N}_.+'&@-](?=[^@]*@)/u;

/** The forms in which `identifiersIn` may have found this number. */
export function formsOfPhone(phone: string): string[] {
  const rounded = Array.from({ length: 15 }, (_, decimals) => Number(phone).toExponential(decimals));
  return [phone, ...endsOfPhone(phone), ...rounded];
}

/** The ends of a number, from the shortest on. */
export function endsOfPhone(phone: string): string[] {
  return endLengths.map((length) => phone.slice(-length));
}

// A slash or a line break may be between two numbers.
function endsIn(text: string, mayBeShort: boolean): string[] {
  const parts = text.split(/[/\n]/).flatMap((part) => endsOf(part, 6));
  return [...parts, ...endsOf(text, mayBeShort ? 4 : 6)];
}

function endsOf(text: string, fewestDigits: number): string[] {
  const ends: string[] = [];
  let digits = "";
  for (const group of text.match(/\d+/g) ?? []) {
    digits = (digits + group).replace(/^0+/, "");
    // Another number may begin behind it.
    if (digits.length >= longestEnd) ends.push(digits.slice(-longestEnd));
  }
  if (digits.length < longestEnd) return digits.length < fewestDigits ? [] : [digits];
  // Argentina writes 15 inside its mobile numbers, but not when they are called from abroad.
  const argentine = digits.length === 12 ? /^\d{2,4}15(\d{6,8})$/.exec(digits)?.[1] : undefined;
  return argentine === undefined ? ends : [...ends, argentine];
}

/** Whether the service accepts it as an address. */
export const isWholeAddress = (email: string) => /^[^\s@]+@[^\s@]+$/.test(email);

export const isAddress = (identifier: string) => identifier.includes("@");

/** Whether it is a whole number, and not the end of one. */
export const isNumber = (identifier: string) => identifier.startsWith("+");

/** Whether a cell is one or more numbers with their countries, and nothing else: "+49 171 1234567". */
export function isOfNumbers(cell: string): boolean {
  const parts = cell.replace(/\p{Cf}/gu, "").split(/[,;|/\n]/);
  return parts.every((part) => /^['\s(]*[+＋]/.test(part) && "value" in parsePhone(part));
}

/** Whether a cell is one or more addresses, and nothing else; "@ada" is a name elsewhere. */
export function isOfAddresses(cell: string): boolean {
  const parts = cell
    .replace(/^[^<>@]*<([^<>]*)>$/, "$1")
    .split(/[\s,;|]+/)
    .filter((part) => part !== "");
  return parts.length > 0 && parts.every((part) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(part));
}
