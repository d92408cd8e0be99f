import { contactKeys, isOnePersons } from "../consent.ts";
import type { SnapshotContact } from "./contact.ts";

/** More contacts than can be read in a day. */
const mostContacts = 2 ** 24;

/**
 * Where the contacts of a file are, by e-mail, phone and id. It has numbers alone, eight bytes for each key: the keys of
 * the lines that it names must be compared.
 */
export class ContactIndex {
  /** The start of each line, and the end of the last one. */
  readonly #bounds: Float64Array;
  /** The hash of a key and the place of its contact, in one number; sorted. */
  readonly #entries: Float64Array;

  constructor(bounds: readonly number[], entries: readonly number[]) {
    this.#bounds = Float64Array.from(bounds);
    this.#entries = Float64Array.from(entries).sort();
  }

  /** The lines of the contacts that have this key, in the order of the file; a few others may be among them. */
  *linesOf(key: string): Generator<{ readonly start: number; readonly end: number }> {
    const least = hashOf(key) * mostContacts;
    for (let at = this.#firstFrom(least); this.#entries[at]! < least + mostContacts; at++) {
      const place = this.#entries[at]! - least;
      yield { start: this.#bounds[place]!, end: this.#bounds[place + 1]! };
    }
  }

  /** The place of the first entry that is not less than this. */
  #firstFrom(least: number): number {
    let [from, to] = [0, this.#entries.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.#entries[middle]! < least) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

/** The entries of the contact at this place of the file. */
export function entriesOf(contact: SnapshotContact, place: number): number[] {
  return keysOf(contact).map((key) => hashOf(key) * mostContacts + place);
}

/** The keys of a contact, as two spellings of one address have them. Strangers may share a phone without a digit. */
export function keysOf({
  id,
  email,
  phone,
}: Pick<Partial<SnapshotContact>, "id" | "email" | "phone">): string[] {
  return contactKeys([{ contactUUID: id, email, phone }]).filter(isOnePersons);
}

/** 29 bits of FNV-1a: with a place they fill a number. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return hash >>> 3;
}
