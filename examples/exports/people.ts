import { createHash } from "node:crypto";
import type { OptIn } from "./contact.ts";
import { isAddress } from "./identifiers.ts";
import type { ReadRow } from "./read-row.ts";
import {
  isNothing,
  join,
  joined,
  noWords,
  ofChannel,
  stateOf,
  type Words,
  withoutOptIns,
} from "./row-words.ts";
import { isBlank, wordOf } from "./words.ts";

/** One person's consent over all rows. */
export interface PersonConsent {
  readonly words: Readonly<Words>;
  readonly email: OptIn | undefined;
  readonly phone: OptIn | undefined;
  readonly isSuppressed: boolean;
}

/**
 * The strictest consent of every person, over all rows of all files, in any order.
 *
 * The e-mail address identifies a person; without one, the telephone number, whose refusals also count for the address
 * beside it in another row. Refusals count for everybody with the external id of their row, and for the further addresses
 * and numbers in it. Add all rows, also those that will not be sent: a refusal counts even in an invalid row.
 */
export class People {
  readonly #known = new Map<string, Words>();
  /** The first address of each number, to which it is sent. */
  readonly #ownerOfPhone = new Map<string, string>();
  /** The numbers with an opt-in of their own in a row of that address. */
  readonly #optedIn = new Set<string>();
  /** The further people of a number, of an address in another column, and of an id. */
  readonly #others = new Map<string, string | string[]>();
  /** The refusals by each address, number or id that stands for the whole person. */
  readonly #refusals = new Map<string, Words>();
  /** The refusals by numbers beside an address, which have a consent of their own. */
  readonly #refusedNumbers = new Map<string, Words>();
  /** The refusals that were known when a report was written, by the hash of the address, number or id. */
  readonly #earlier = new Map<string, Words>();

  add(row: ReadRow): void {
    const { words, others, cells } = row;
    const { email, phone } = row.person;
    const person = email ?? phone;
    if (email !== undefined) join(this.#known, email, words);
    if (phone !== undefined) {
      // The number has a consent of its own: another address may have the same number, and did not give this opt-in.
      const ofNumber = email === undefined ? words : ofChannel(words, "phone");
      join(this.#known, phone, cells.has("email") ? withoutOptIns(ofNumber) : ofNumber);
      if (email !== undefined) this.#addOwner(phone, email);
      if (stateOf(words.phone) === "SUBSCRIBED" && this.#isOfOwner(row)) this.#optedIn.add(phone);
    }
    const refusals = withoutOptIns(words);
    const id = idOf(row);
    if (id !== undefined) {
      if (person !== undefined) this.#addOther(id, person);
      if (!isNothing(refusals)) join(this.#refusals, id, refusals);
    }
    const hasAddress = email !== undefined || others.some(isAddress);
    this.#addEnds(row, person, !hasAddress && !isNothing(refusals));
    for (const name of phone !== undefined && email === undefined ? [phone, ...others] : others) {
      const isNumber = !isAddress(name);
      if (person !== undefined && name !== person && (isNumber || email === undefined))
        this.#addOther(name, person);
      if (isNumber && hasAddress) join(this.#refusedNumbers, name, ofChannel(refusals, "phone"));
      else if (!isNothing(refusals)) join(this.#refusals, name, refusals);
    }
  }

  /** A refusal by a number may be about those who have the same last digits, where one of the two names no country. */
  #addEnds({ ends }: ReadRow, person: string | undefined, mayRefuse: boolean): void {
    for (const { digits, isWhole } of ends) {
      if (person !== undefined) this.#addOther(`~${digits}`, person);
      if (person !== undefined && !isWhole) this.#addOther(`=${digits}`, person);
      if (mayRefuse) join(this.#refusals, isWhole ? `=${digits}` : `~${digits}`, held);
    }
  }

  /** Adds the refusals that were known when a report was written, whose rows may have other addresses now. */
  addEarlier(refusals: Iterable<readonly [string, Words]>): void {
    for (const [hash, words] of refusals) join(this.#earlier, hash, words);
  }

  /** Everybody's refusals, for `addEarlier`. Call after `settle`. */
  refusals(): ReadonlyMap<string, Words> {
    const all = new Map(this.#earlier);
    for (const known of [this.#known, this.#refusals, this.#refusedNumbers])
      for (const [key, words] of known) {
        // A word that held back may be answered by then.
        const own = { ...withoutOptIns(words), emailHold: 0, phoneHold: 0 };
        if (!isNothing(own)) join(all, hashOf(key), own);
      }
    return all;
  }

  #addOwner(phone: string, email: string): void {
    const first = this.#ownerOfPhone.get(phone);
    if (first === undefined) this.#ownerOfPhone.set(phone, email);
    else if (first !== email) this.#addOther(phone, email);
  }

  #addOther(key: string, person: string): void {
    const others = this.#others.get(key);
    // Most have one: it needs no array.
    if (others === undefined) this.#others.set(key, person);
    else if (typeof others === "string") this.#others.set(key, [others, person]);
    else if (others.at(-1) !== person) others.push(person);
  }

  /** Call after all rows: the refusals of a number or an id count for its people. */
  settle(): void {
    if (this.#earlier.size > 0)
      for (const keys of [this.#known.keys(), this.#others.keys()])
        for (const key of keys) {
          const earlier = this.#earlier.get(hashOf(key));
          if (earlier !== undefined) join(isId(key) ? this.#refusals : this.#known, key, earlier);
        }
    for (const [key, words] of this.#refusals) {
      const others = new Set([this.#others.get(key) ?? []].flat());
      if (isId(key) && others.size > mostOfOneId) continue;
      for (const person of [key, ...others]) if (this.#known.has(person)) join(this.#known, person, words);
    }
    for (const [phone, words] of this.#refusedNumbers)
      if (this.#known.has(phone)) join(this.#known, phone, words);
    for (const [phone, owner] of this.#ownerOfPhone)
      join(this.#known, owner, withoutOptIns(this.#known.get(phone) ?? noWords));
  }

  /** The number of persons: addresses, and numbers without an address. */
  get size(): number {
    return this.#known.size - this.#ownerOfPhone.size;
  }

  /** Whether a refusal in a row that cannot be sent counts for somebody: call after all rows. */
  hasOneOf(row: ReadRow): boolean {
    const id = idOf(row);
    return (
      (id !== undefined && this.#others.has(id)) ||
      row.others.some((name) => this.#known.has(name) || this.#others.has(name)) ||
      row.ends.some(({ digits }) => this.#others.has(`~${digits}`)) ||
      this.#ownerOfPhone.has(row.person.phone ?? "")
    );
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

  consentOf(row: ReadRow): PersonConsent {
    const { email, phone } = row.person;
    const ofPerson = this.#known.get(email ?? this.#ownerOfPhone.get(phone ?? "") ?? phone ?? "") ?? noWords;
    const ofNumber = ofChannel(this.#known.get(phone ?? "") ?? noWords, "phone");
    const isOptedIn = this.#optedIn.has(phone ?? "") && this.#isOfOwner(row);
    const optIn = isOptedIn ? { ...noWords, phone: 1 } : noWords;
    // Who has agreed to messages to one number has not agreed to those to another.
    const others = { ...ofPerson, phone: ofPerson.phone === 1 ? 0 : ofPerson.phone };
    const words = [others, withoutOptIns(ofNumber), optIn].reduce<Words>(joined, { ...row.words });
    return {
      words,
      email: stateOf(words.email),
      phone: stateOf(words.phone),
      isSuppressed: words.isSuppressed > 0,
    };
  }
}

/** An id that more addresses and numbers have stands for none, as `guest`. */
const mostOfOneId = 5;

const held: Readonly<Words> = { ...noWords, emailHold: 1, phoneHold: 1 };

const isId = (key: string) => key.startsWith(" ");

/** The row's external id, as a key that no address or number is; what stands for none is nobody's: `0`, `-`, `N/A`. */
function idOf({ contact: { external_id: id } }: ReadRow): string | undefined {
  return id === undefined || isBlank(wordOf(id)) || !/[\p{L}1-9]/u.test(id) ? undefined : ` ${id}`;
}

const hashOf = (key: string) => createHash("sha256").update(key).digest("base64url").slice(0, 22);
