import { domainToASCII } from "node:url";
import { parsePhone } from "./phone.ts";

/** An address in the form for comparisons: `a@müller.de` is `a@xn--mller-kva.de`, and `ö` one letter. */
export function comparableEmail(email: string): string {
  const at = email.lastIndexOf("@") + 1;
  const domain = email.slice(at);
  return email.slice(0, at).normalize("NFC") + (domainToASCII(domain) || domain.normalize("NFC"));
}

// A prefix may stand before a number, or inside it behind the area, so only the last digits can be compared.
const endLength = 6;
// The shortest numbers within a country.
const fewestDigits = 4;

/**
 * The addresses and numbers anywhere in a cell, whatever is around them. Of a number without its country only the last
 * digits; of a number that a spreadsheet has rounded, the rounded form.
 */
export function identifiersIn(cell: string, mayBeShort: boolean): string[] {
  const text = cell
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .toLowerCase();
  const addresses = text.match(/[^\s,;:|<>()[\]"“”„«»@]{1,64}@[\p{L}\p{M}\p{N}.-]{1,255}/gu) ?? [];
  const rounded = text.match(/\d([.,]\d+)?e\+?\d+/g) ?? [];
  const numbers = text.match(/[+\d][\d\s()./\p{Pd}\u2212]*/gu) ?? [];
  return [
    ...addresses
      .flatMap((one) => [one, one.replace(/^[^\p{L}\p{N}_]+|[.-]+$/gu, "")])
      .map((one) => comparableEmail(one)),
    ...rounded.map((one) => Number(one.replace(",", ".")).toExponential(Math.max(0, one.indexOf("e") - 2))),
    ...numbers.flatMap((one) => {
      const parsed = parsePhone(one);
      return "value" in parsed ? [parsed.value] : endsIn(one, mayBeShort);
    }),
  ];
}

/** The forms in which `identifiersIn` may have found this number. */
export function formsOfPhone(phone: string): string[] {
  const ends = [fewestDigits, 5, endLength].map((length) => phone.slice(-length));
  const rounded = Array.from({ length: 15 }, (_, decimals) => Number(phone).toExponential(decimals));
  return [phone, ...ends, ...rounded];
}

// Each group of digits may be the last one of a number.
function endsIn(text: string, mayBeShort: boolean): string[] {
  const ends: string[] = [];
  let digits = "";
  for (const group of text.match(/\d+/g) ?? []) {
    digits = (digits + group).replace(/^0+/, "");
    if (digits.length >= endLength) ends.push(digits.slice(-endLength));
  }
  const isShort = digits.length >= fewestDigits && digits.length < endLength;
  return mayBeShort && isShort ? [digits] : ends;
}
