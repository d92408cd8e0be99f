import { createHash } from "node:crypto";
import {
  codeOf,
  codeOfRow,
  isSuppressedIn,
  join,
  ofPhone,
  refusalCode,
  refusalsOfCode,
  withCode,
  withoutOptIns,
} from "./consent-code.ts";
import type { Channel, OptIn } from "./contact.ts";
import { Doubts } from "./doubts.ts";
import { comparableEmail, isAddress, isNumber, isWholeAddress } from "./identifiers.ts";
import type { ReadRow } from "./read-row.ts";
import { isBlank, wordOf } from "./words.ts";

/** One person's consent over all rows. */
export interface PersonConsent {
  readonly email: OptIn | undefined;
  readonly phone: OptIn | undefined;
  readonly isSuppressed: boolean;
  /** The plain refusals in any cell about the person: nothing better is sent. */
  readonly refusals: Readonly<Record<Channel, OptIn | undefined>>;
  /** Channels with an unknown word, which could be stricter than the known ones. */
  readonly unclear: readonly Channel[];
  /** Channels with a stricter consent in another row. */
  readonly stricterElsewhere: readonly Channel[];
}

/**
 * The strictest consent of every person, over all rows of all files, in any order.
 *
 * The e-mail address identifies a person; without one, the telephone number, whose refusals also count for the address
 * beside it in another row. Refusals count for everybody with the external id of their row. Add all rows, also those that
 * will not be sent: a refusal counts even in an invalid row.
 */
export class People {
  readonly #known = new Map<string, number>();
  /** The first address of each number, to which it is sent. */
  readonly #ownerOfPhone = new Map<string, string>();
  /** The numbers with an opt-in of their own in a row of that address. */
  readonly #optedIn = new Set<string>();
  /**
   * The further people of a number or address: it is another's, in another column, or in one that is left out. And those
   * of an id.
   */
  readonly #others = new Map<string, string[]>();
  /** The refusals by each address, number or id that stands for the whole person. */
  readonly #refusals = new Map<string, number>();
  /** The refusals by further numbers, which have a consent of their own. */
  readonly #refusedNumbers = new Map<string, number>();
  readonly #doubts = new Doubts();
  /** The refusals that were known when a report was written, by the hash of the address or number. */
  readonly #earlier = new Map<string, number>();

  add(row: ReadRow): void {
    const { said, others } = row;
    const { email, phone } = row.contact;
    const address = email && comparableEmail(email);
    this.#doubts.add(row, address);
    const code = codeOfRow(said);
    if (address !== undefined) join(this.#known, address, code);
    // The number has a consent of its own: another address may have the same number, and did not give this opt-in.
    const ofNumber = address === undefined ? code : codeOf("phone", said.phone);
    if (phone !== undefined)
      join(this.#known, phone, row.cells.has("email") ? withoutOptIns(ofNumber) : ofNumber);
    if (phone !== undefined && email !== undefined) this.#addOwner(phone, email);
    if (phone !== undefined && said.phone.optIn === "SUBSCRIBED" && this.#isOfOwner(row))
      this.#optedIn.add(phone);
    const person = address ?? phone;
    const id = idOf(row);
    if (id !== undefined && person !== undefined) this.#addOther(id, person);
    if (id !== undefined && refusalCode(said) !== 0) join(this.#refusals, id, refusalCode(said));
    const hasAddress = address !== undefined || others.some(isAddress);
    for (const one of phone !== undefined && address === undefined ? [phone, ...others] : others) {
      if (!isAddress(one) && !isNumber(one)) continue;
      if (person !== undefined && one !== person && (isNumber(one) || address === undefined))
        this.#addOther(one, person);
      const refusal = refusalCode(said);
      if (refusal === 0) continue;
      if (isNumber(one) && hasAddress) join(this.#refusedNumbers, one, refusal & ofPhone);
      else join(this.#refusals, one, refusal);
      if (isNumber(one) && !hasAddress) this.#doubts.addNumber(one, refusal, row);
    }
  }

  /** Adds the refusals that were known when a report was written, whose rows may have other addresses now. */
  addEarlier(refusals: Iterable<readonly [string, number]>): void {
    for (const [hash, code] of refusals) join(this.#earlier, hash, code);
  }

  /** Everybody's refusals, for `addEarlier`. Call after `settle`. */
  refusals(): ReadonlyMap<string, number> {
    const all = new Map(this.#earlier);
    for (const codes of [this.#known, this.#refusals, this.#refusedNumbers])
      for (const [key, code] of codes)
        if (refusalsOfCode(code) !== 0) join(all, hashOf(key), refusalsOfCode(code));
    return all;
  }

  #addOwner(phone: string, email: string): void {
    const first = this.#ownerOfPhone.get(phone);
    // A row that is never sent keeps its number from nobody.
    const isOwner = first === undefined || (!isWholeAddress(first) && isWholeAddress(email));
    if (isOwner) {
      this.#ownerOfPhone.set(phone, email);
      this.#optedIn.delete(phone);
    }
    if (first !== undefined && comparableEmail(first) !== comparableEmail(email))
      this.#addOther(phone, comparableEmail(isOwner ? first : email));
  }

  #addOther(key: string, person: string): void {
    const others = this.#others.get(key);
    if (others === undefined) this.#others.set(key, [person]);
    else if (others.at(-1) !== person) others.push(person);
  }

  /** Call after all rows: the refusals of a number count for its people, and so do those that may be theirs. */
  settle(): void {
    if (this.#earlier.size > 0) {
      for (const key of this.#known.keys()) join(this.#known, key, this.#earlier.get(hashOf(key)) ?? 0);
      for (const key of this.#others.keys())
        if (isId(key)) join(this.#refusals, key, this.#earlier.get(hashOf(key)) ?? 0);
    }
    for (const [key, code] of this.#refusals) {
      const others = new Set(this.#others.get(key));
      if (isId(key) && others.size > mostOfOneId) continue;
      for (const person of [key, ...others]) if (this.#known.has(person)) join(this.#known, person, code);
    }
    for (const [phone, code] of this.#refusedNumbers)
      if (this.#known.has(phone)) join(this.#known, phone, code);
    for (const [phone, owner] of this.#ownerOfPhone)
      join(this.#known, comparableEmail(owner), withoutOptIns(this.#known.get(phone) ?? 0));
    this.#doubts.settle(this.#peopleOfKeys(), this.#known);
  }

  *#peopleOfKeys(): Generator<readonly [string, readonly string[]]> {
    for (const key of this.#known.keys()) {
      const owner = this.#ownerOfPhone.get(key);
      yield [key, [owner === undefined ? key : comparableEmail(owner), ...(this.#others.get(key) ?? [])]];
    }
    for (const [key, others] of this.#others) if (!this.#known.has(key)) yield [key, others];
  }

  /** The number of persons: addresses, and numbers without an address. */
  get size(): number {
    return this.#known.size - this.#ownerOfPhone.size;
  }

  /** The address of this telephone number, if it differs from the row's. */
  ownerOfPhone({ contact: { email, phone } }: ReadRow): string | undefined {
    const owner = phone === undefined || email === undefined ? undefined : this.#ownerOfPhone.get(phone);
    if (owner === undefined || email === undefined) return undefined;
    return comparableEmail(owner) === comparableEmail(email) ? undefined : owner;
  }

  /** Whether the row is about nobody but the owner of its number. */
  #isOfOwner(row: ReadRow): boolean {
    return row.contact.email === undefined ? !row.cells.has("email") : this.ownerOfPhone(row) === undefined;
  }

  consentOf(row: ReadRow): PersonConsent {
    const { contact, said } = row;
    const { email, phone } = contact;
    const owner = phone === undefined ? undefined : this.#ownerOfPhone.get(phone);
    const key = email && comparableEmail(email);
    const ofPerson = this.#known.get(key ?? (owner && comparableEmail(owner)) ?? phone ?? "") ?? 0;
    const isOptedIn = this.#optedIn.has(phone ?? "") && this.#isOfOwner(row);
    const ofNumber = isOptedIn ? { ...said.phone, optIn: said.phone.optIn ?? "SUBSCRIBED" } : said.phone;
    const all = {
      email: withCode(said.email, "email", ofPerson),
      // Who has agreed to messages to one number has not agreed to those to another.
      phone: [withoutOptIns(ofPerson), this.#known.get(phone ?? "") ?? 0].reduce(
        (one, code) => withCode(one, "phone", code),
        ofNumber,
      ),
    };
    const channels = ["email", "phone"] as const;
    return {
      email: all.email.optIn,
      phone: all.phone.optIn,
      isSuppressed: said.isSuppressed || isSuppressedIn(ofPerson),
      refusals: { email: all.email.refusal, phone: all.phone.refusal },
      // Nothing is stricter than UNSUBSCRIBED.
      unclear: channels.filter(
        (channel) => all[channel].notUnderstood.length > 0 && all[channel].optIn !== "UNSUBSCRIBED",
      ),
      stricterElsewhere: channels.filter(
        (channel) => said[channel].optIn !== undefined && said[channel].optIn !== all[channel].optIn,
      ),
    };
  }

  /** The row that may hold a refusal of this row's person: an address or number in one of them cannot be read. */
  rowInDoubt({ contact: { email, phone } }: ReadRow): string | undefined {
    const owner = phone === undefined ? undefined : this.#ownerOfPhone.get(phone);
    return this.#doubts.causeFor([email && comparableEmail(email), phone, owner && comparableEmail(owner)]);
  }

  /** Whether somebody is not imported because the row may hold their refusal. */
  stopsSomebody(row: ReadRow): boolean {
    return this.#doubts.has(row);
  }
}

/** An id that more addresses and numbers have stands for none, as `guest`. */
const mostOfOneId = 5;

const isId = (key: string) => key.startsWith(" ");

/** The row's external id, as a key that no address or number is; what stands for none is nobody's: `0`, `-`, `N/A`. */
function idOf({ contact: { external_id: id } }: ReadRow): string | undefined {
  return id === undefined || isBlank(wordOf(id)) || !/[\p{L}1-9]/u.test(id) ? undefined : ` ${id}`;
}

const hashOf = (key: string) => createHash("sha256").update(key).digest("base64url").slice(0, 22);
