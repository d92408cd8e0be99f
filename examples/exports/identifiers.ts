import { domainToASCII } from "node:url";
import { parseEmail, parsePhone, withAsciiDigits } from "./contact-values.ts";
import type { Contact } from "./contact.ts";
import { isBlank, wordOf } from "./words.ts";

/** An address in the form for comparisons: `a@müller.de` is `a@xn--mller-kva.de`, and `ö` one letter. */
export function comparableEmail(email: string): string {
  // Most addresses are in this form.
  if (/^[ -~]*$/.test(email)) return email;
  const at = email.lastIndexOf("@") + 1;
  const domain = email.slice(at);
  return email.slice(0, at).normalize("NFC") + (domainToASCII(domain) || domain.normalize("NFC"));
}

const address = /[\p{L}\p{N}_][^\s,;:|<>()[\]{}"“”„«»`*=/\\@]*@[\p{L}\p{M}\p{N}.-]*[\p{L}\p{M}\p{N}]/gu;

// A + or 00 and the digits after it, with any signs between them. They may hold the 00 of another number.
const afterCountry = /(?=((?:\+|(?<!\d)00)(?:[^\p{L}\p{N}+]*\d){7,20}))/gu;

/** The addresses in a cell, and the numbers with their countries, wherever they stand. */
export function namesIn(cell: string): string[] {
  // Most cells hold none.
  if (!/[@+]|(?<!\d)00|[^ -~]/.test(cell)) return [];
  const whole = parseEmail(cell);
  if ("value" in whole && isWholeAddress(whole.value)) return [comparableEmail(whole.value)];
  const seen = cell.normalize("NFKC").replace(/\p{Cf}|(?!\s)\p{Cc}/gu, "");
  const addresses = Array.from(seen.toLowerCase().matchAll(address), ([found]) => comparableEmail(found));
  return [...addresses, ...numbersIn(seen)];
}

function numbersIn(text: string): string[] {
  const whole = parsePhone(text);
  if ("value" in whole) return [whole.value];
  return Array.from(withAsciiDigits(text).matchAll(afterCountry)).flatMap(([, run = ""]) =>
    // "+49 170 1234567 (2)": any group may be the last, as no number is the beginning of another one.
    Array.from(run.matchAll(/\d(?!\d)/g)).flatMap(({ index }) => {
      const number = parsePhone(run.slice(0, index + 1).replace(/[^\d+()]/g, " "));
      return "value" in number ? [number.value] : [];
    }),
  );
}

/** Whether the service accepts it as an address. */
export const isWholeAddress = (email: string) => /^[^\s@]+@[^\s@]+$/.test(email);

/** The external id, as a name that no address or number is; what stands for none is nobody's: `0`, `-`, `N/A`. */
export function idIn({ external_id: id = "" }: Contact): string[] {
  return isBlank(wordOf(id)) || !/[\p{L}1-9]/u.test(id) ? [] : [` ${id}`];
}

/** The end of a number, as a name: by it a number without its country is known beside the same one with it. */
export function endOf(number: string): string[] {
  const digits = withAsciiDigits(number).replace(/\D/g, "");
  return digits.length < 7 ? [] : [`=${digits.slice(-7)}`];
}

export const isId = (name: string) => name.startsWith(" ");

export const isAddress = (name: string) => name.includes("@");

/** Whether a cell is one or more addresses, and nothing else; "@ada" is a name elsewhere. */
export function isOfAddresses(cell: string): boolean {
  const parts = cell
    .replace(/^[^<>@]*<([^<>]*)>$/, "$1")
    .split(/[\s,;|]+/)
    .filter((part) => part !== "");
  return parts.length > 0 && parts.every((part) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(part));
}
