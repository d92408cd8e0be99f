import { anyRefusal, joined, ofPhone, refusalCode } from "./consent-code.ts";
import { endsOfPhone, formsOfPhone, identifiersIn, isAddress, isNumber } from "./identifiers.ts";
import type { ReadRow } from "./read-row.ts";
import { contactIssues } from "./row-issues.ts";

/** A row's refusals. */
interface Refusal {
  readonly code: number;
  /** The path of the file, and the row. */
  readonly row: string;
}

/** The refusals that may be about somebody else, because an address or number cannot be read. */
export class Doubts {
  /** By the addresses and numbers that may be those of the person. */
  readonly #refusals = new Map<string, Refusal[]>();
  /** The refusals of rows without an address, by their numbers. */
  readonly #refusedNumbers = new Map<string, Refusal[]>();
  /** The people with a number that cannot be read. */
  readonly #unreadableNumbers = new Map<string, string[]>();
  /** The people who may have refused, and the row which says so. */
  readonly #causes = new Map<string, string>();
  readonly #rowsInDoubt = new Set<string>();

  /** Adds a row; its person is the key of its address, if it has one. */
  add(row: ReadRow, person: string | undefined): void {
    for (const [one, code] of doubtsIn(row)) push(this.#refusals, one, { code, row: nameOf(row) });
    if (person === undefined) return;
    const text = row.contact.phone === undefined ? row.cells.get("phone")?.text : undefined;
    const own = text === undefined ? [] : identifiersIn(text, true);
    for (const one of [...own, ...row.others.filter((other) => !isReadable(other))])
      push(this.#unreadableNumbers, one, person);
  }

  /** Adds the refusals of a row without an address. */
  addNumber(phone: string, code: number, row: ReadRow): void {
    // The number that cannot be read is not sent, nor is its consent.
    push(this.#refusedNumbers, phone, { code: code & ~ofPhone, row: nameOf(row) });
  }

  /** Call after all rows, with the people of each address and number, and their consents. */
  settle(people: Iterable<readonly [string, readonly string[]]>, known: ReadonlyMap<string, number>): void {
    const refusals = (forms: readonly string[]) => forms.flatMap((form) => this.#refusals.get(form) ?? []);
    if (this.#refusals.size > 0)
      for (const [key, own] of people)
        this.#stop(own, refusals(isNumber(key) ? formsOfPhone(key) : [key]), known, key);
    if (this.#unreadableNumbers.size === 0) return;
    for (const [number, own] of this.#unreadableNumbers)
      this.#stop(own, refusals([number, ...endsOfPhone(number)]).map(withoutPhone), known);
    for (const [number, found] of [...this.#refusedNumbers, ...this.#refusals])
      if (isNumber(number))
        for (const form of formsOfPhone(number))
          this.#stop(this.#unreadableNumbers.get(form) ?? [], found.map(withoutPhone), known);
  }

  /** The row that may hold a refusal of one of these. */
  causeFor(keys: readonly (string | undefined)[]): string | undefined {
    return keys.map((key) => this.#causes.get(key ?? "")).find((cause) => cause !== undefined);
  }

  /** Whether somebody is not imported because of the row. */
  has(row: ReadRow): boolean {
    return this.#rowsInDoubt.has(nameOf(row));
  }

  #stop(
    people: readonly string[],
    refusals: readonly Refusal[],
    known: ReadonlyMap<string, number>,
    key?: string,
  ): void {
    for (const person of people) {
      const code = known.get(person) ?? 0;
      for (const refusal of refusals) {
        // A person who has refused as much is not in doubt.
        if (joined(code, refusal.code) === code) continue;
        this.#rowsInDoubt.add(refusal.row);
        const isOwner = key !== undefined && person === people[0];
        for (const one of isOwner ? [person, key] : [person])
          if (!this.#causes.has(one)) this.#causes.set(one, refusal.row);
      }
    }
  }
}

/**
 * The identifiers of anybody who may have refused, and the refusals: of all cells of a misshapen line, with any refusal;
 * and, where a row is stricter than an opt-in, of all if its address cannot be read, or the numbers which cannot be read.
 */
function* doubtsIn({ contact, said, issues, source, cells, others }: ReadRow): Generator<[string, number]> {
  const { isMisshapen } = source;
  const code = isMisshapen ? anyRefusal : refusalCode(said);
  if (code === 0) return;
  const refused = new Set([...issues, ...contactIssues(contact)].map(({ field }) => field));
  const isUnknown = contact.email === undefined && contact.phone === undefined && !others.some(isReadable);
  const phone = cells.get("phone")?.text;
  if (isMisshapen || isUnknown || refused.has("email")) {
    // A few digits in another cell may be a postal code.
    for (const cell of source.cells)
      for (const one of identifiersIn(cell, isMisshapen || cell.trim() === phone)) yield [one, code];
    return;
  }
  const own = phone !== undefined && refused.has("phone") ? identifiersIn(phone, true) : [];
  for (const one of [...own, ...others.filter((other) => !isReadable(other))]) yield [one, code & ofPhone];
}

const isReadable = (one: string) => isAddress(one) || isNumber(one);

const withoutPhone = ({ code, row }: Refusal): Refusal => ({ code: code & ~ofPhone, row });

function nameOf({ file, number }: ReadRow): string {
  return `${file}, row ${number}`;
}

function push<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
