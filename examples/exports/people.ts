import { createHash } from "node:crypto";
import { endOf, isAddress, isId } from "./identifiers.ts";
import type { ReadRow } from "./read-row.ts";
import {
  always,
  isNothing,
  joined,
  noWords,
  ofChannel,
  type Words,
  WordsByKey,
  withoutOptIns,
} from "./row-words.ts";

type RefusingRow = Pick<ReadRow, "file" | "number" | "refusing">;

function namesOf({ person: { email, phone }, others }: ReadRow): string[] {
  return [email, phone, ...others].filter((name) => name !== undefined);
}

/**
 * The strictest consent of every person, over all rows of all files, in any order.
 *
 * The e-mail address identifies a person; without one, the telephone number, whose refusals also count for the address
 * beside it in another row. Refusals count for everybody with the external id of their row, and for the further addresses
 * and numbers in it. Add all rows, also those that will not be sent: a refusal counts even in an invalid row.
 */
export class People {
  readonly #known = new WordsByKey();
  /** The first address of each number, to which it is sent. */
  readonly #ownerOfPhone = new Map<string, string>();
  /** The further people of a number, of an address in another column, and of an id. */
  readonly #others = new Map<string, Set<string>>();
  /** The refusals by each address, number or id that stands for the whole person. */
  readonly #refusals = new WordsByKey();
  /** The refusals by numbers beside an address, which have a consent of their own. */
  readonly #refusedNumbers = new WordsByKey();
  /** The last row with a plain refusal about each name. */
  readonly #refusing = new Map<string, RefusingRow>();
  /** The addresses and numbers of more than one row. */
  readonly #inSeveralRows = new Set<string>();
  /** The refusals that were known when a report was written, by the hash of the address, number or id. */
  readonly #earlier = new WordsByKey();

  add(row: ReadRow): void {
    const { others, file, number, refusing } = row;
    if (refusing.length > 0)
      for (const name of namesOf(row)) this.#refusing.set(name, { file, number, refusing });
    const { email, phone } = row.person;
    const words = this.#withEarlier(row);
    const person = email ?? phone;
    for (const name of [email, phone])
      if (name !== undefined && this.#known.has(name)) this.#inSeveralRows.add(name);
    if (email !== undefined) this.#known.join(email, words);
    if (phone !== undefined) {
      if (email !== undefined) this.#addOwner(phone, email);
      // The number has a consent of its own: another address may have the same number, and did not give this opt-in.
      const ofNumber = email === undefined ? words : ofChannel(words, "phone");
      this.#known.join(phone, this.#isOfOwner(row) ? ofNumber : withoutOptIns(ofNumber));
    }
    const refusals = withoutOptIns(words);
    const hasAddress = email !== undefined || others.some(isAddress);
    for (const name of phone !== undefined && email === undefined ? [phone, ...others] : others) {
      if (person !== undefined && name !== person && (!isAddress(name) || email === undefined))
        this.#addOther(name, person);
      if (hasAddress && !isAddress(name) && !isId(name))
        this.#refusedNumbers.join(name, ofChannel(refusals, "phone"));
      else if (!isNothing(refusals)) this.#refusals.join(name, refusals);
    }
    // It may be the number of a row that names no country: in doubt that row is held back.
    const emailHold = Math.max(refusals.email, refusals.emailHold);
    if (email === undefined && phone !== undefined && emailHold > 1)
      for (const end of endOf(phone)) this.#refusals.join(end, { ...noWords, emailHold });
  }

  /** Adds the refusals that were known when a report was written, whose rows may have other addresses now. Call before `add`. */
  addEarlier(refusals: Readonly<Record<string, Words>>): void {
    for (const [hash, words] of Object.entries(refusals)) this.#earlier.join(hash, words);
  }

  #withEarlier(row: ReadRow): Readonly<Words> {
    const { email } = row.person;
    const own = namesOf(row).filter((name) => email === undefined || name === email || !isAddress(name));
    return own.map((name) => this.#earlierOf(name)).reduce(joined, row.words);
  }

  #earlierOf(name: string): Readonly<Words> {
    return this.#earlier.size === 0 ? noWords : this.#earlier.of(hashOf(name));
  }

  /** Everybody's refusals, for `addEarlier`. Call after `settle`. */
  refusals(): Record<string, Words> {
    const all = new WordsByKey(this.#earlier);
    // A word that held back may be answered by then.
    const answered = (hold: number) => (hold === always ? 0 : hold);
    for (const known of [this.#known, this.#refusals, this.#refusedNumbers])
      for (const key of known.keys()) {
        const words = withoutOptIns(known.of(key));
        const { emailHold, phoneHold } = words;
        const own = { ...words, emailHold: answered(emailHold), phoneHold: answered(phoneHold) };
        if (!isNothing(own)) all.join(hashOf(key), own);
      }
    return Object.fromEntries(all);
  }

  #addOwner(phone: string, email: string): void {
    const first = this.#ownerOfPhone.get(phone);
    if (first === undefined) this.#ownerOfPhone.set(phone, email);
    else if (first !== email) this.#addOther(phone, email);
  }

  #addOther(key: string, person: string): void {
    this.#others.set(key, (this.#others.get(key) ?? new Set()).add(person));
  }

  /** Call after all rows: the refusals of a number or an id count for its people. */
  settle(): void {
    for (const key of this.#refusals.keys()) {
      const others = this.#others.get(key) ?? new Set();
      if (isId(key) && others.size > mostOfOneId) continue;
      for (const person of [key, ...others]) this.#tell(person, this.#refusals.of(key));
    }
    for (const phone of this.#refusedNumbers.keys()) this.#tell(phone, this.#refusedNumbers.of(phone));
    // A refused number without its country may be each that ends as it does: in doubt they are held back.
    for (const number of this.#known.keys())
      for (const end of isAddress(number) ? [] : endOf(number)) {
        const refused = [this.#refusals, this.#refusedNumbers].map((words) => words.of(end));
        const { phone, phoneHold } = refused.reduce(joined, this.#earlierOf(end));
        const hold = Math.max(phone, phoneHold);
        if (hold > 1) this.#known.join(number, { ...noWords, phoneHold: hold });
      }
    for (const [phone, owner] of this.#ownerOfPhone)
      this.#known.join(owner, withoutOptIns(this.#known.of(phone)));
  }

  /** Joins the words with those of a person of the files. */
  #tell(person: string, words: Readonly<Words>): void {
    if (this.#known.has(person)) this.#known.join(person, words);
  }

  /** The number of persons: addresses, and numbers without an address. */
  get size(): number {
    return this.#known.size - this.#ownerOfPhone.size;
  }

  /** Whether a refusal in a row that cannot be sent counts for somebody: call after all rows. */
  hasOneOf(row: ReadRow): boolean {
    return (
      row.others.some((name) => this.#known.has(name) || this.#others.has(name)) ||
      this.#ownerOfPhone.has(row.person.phone ?? "")
    );
  }

  /** A row about the person with a plain refusal: this one, or another. Undefined if only a report knows of it. */
  refusingRow(row: ReadRow): RefusingRow | undefined {
    if (row.refusing.length > 0) return row;
    return namesOf(row).flatMap((name) => this.#refusing.get(name) ?? [])[0];
  }

  /** The address of this telephone number, if it differs from the row's. */
  ownerOfPhone({ person: { email, phone } }: ReadRow): string | undefined {
    const owner = email === undefined ? undefined : this.#ownerOfPhone.get(phone ?? "");
    return owner === email ? undefined : owner;
  }

  /** Whether the row is about nobody but the owner of its number. */
  #isOfOwner(row: ReadRow): boolean {
    return row.person.email === undefined ? !row.cells.has("email") : this.ownerOfPhone(row) === undefined;
  }

  /** The name of a row's person, if another row may be about the same one. */
  sharedPersonOf({ person: { email = "", phone = "" } }: ReadRow): string | undefined {
    const isShared = this.#inSeveralRows.has(email) || this.#inSeveralRows.has(phone);
    return isShared ? email || (this.#ownerOfPhone.get(phone) ?? phone) : undefined;
  }

  /** What all rows say of the person of a row, and the row itself. */
  wordsOf(row: ReadRow): Words {
    const { email, phone = "" } = row.person;
    const ofPerson = this.#known.of(email ?? this.#ownerOfPhone.get(phone) ?? phone);
    const ofNumber = ofChannel(this.#known.of(phone), "phone");
    const own = this.#isOfOwner(row) ? ofNumber : withoutOptIns(ofNumber);
    // Who has agreed to messages to one number has not agreed to those to another.
    const others = { ...ofPerson, phone: ofPerson.phone === 1 ? 0 : ofPerson.phone };
    return [others, own].reduce(joined, { ...row.words });
  }
}

/** Counts people: one of several rows counts once. */
export class PeopleCount {
  #ofOneRow = 0;
  readonly #others = new Set<string>();

  /** Counts a row by its `sharedPersonOf`. */
  add(person: string | undefined): void {
    if (person === undefined) this.#ofOneRow += 1;
    else this.#others.add(person);
  }

  get size(): number {
    return this.#ofOneRow + this.#others.size;
  }
}

/** An id that more addresses and numbers have stands for none, as `guest`. */
const mostOfOneId = 5;

const hashOf = (key: string) => createHash("sha256").update(key).digest("base64url").slice(0, 22);
