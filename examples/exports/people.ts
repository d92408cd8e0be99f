import { type Channel, optIns, type OptIn, stricter } from "./contact.ts";
import { comparableEmail, formsOfPhone, identifiersIn } from "./identifiers.ts";
import type { ReadRow } from "./read-row.ts";
import type { Said } from "./row-consent.ts";
import { contactIssues } from "./row-issues.ts";

/** One person's consent over all rows. */
export interface PersonConsent {
  readonly email: OptIn | undefined;
  readonly phone: OptIn | undefined;
  readonly isSuppressed: boolean;
  /** Channels with an unknown word, which could be stricter than the known ones. */
  readonly unclear: readonly Channel[];
  /** Channels with a stricter consent in another row. */
  readonly stricterElsewhere: readonly Channel[];
  /** Whether a line that may be about the person cannot be read, and may hide a refusal. */
  readonly isInUnreadableLine: boolean;
}

// A person's consent is encoded in a small number, because a file may have hundreds of thousands of persons.
const shift: Readonly<Record<Channel, number>> = { email: 0, phone: 3 };
const suppressed = 1 << 6;
const notUnderstood = 4;
const anyRefusal = (7 << shift.email) | (7 << shift.phone) | suppressed;

/**
 * The strictest consent of every person, over all rows of all files, in any order.
 *
 * The e-mail address identifies a person; without one, the telephone number, whose consent also counts for the first
 * address beside it. Add all rows, also those that will not be sent: a refusal counts even in an invalid row.
 */
export class People {
  readonly #known = new Map<string, number>();
  readonly #ownerOfPhone = new Map<string, string>();
  readonly #refusalsInDoubt = new Map<string, number>();
  readonly #inUnreadableLines = new Set<string>();

  add(row: ReadRow): void {
    const { said } = row;
    const { email, phone } = row.contact;
    const doubt = doubtIn(row);
    for (const cell of doubt.cells) {
      // A few digits in another cell may be a postal code.
      const mayBeShort = row.source.isMisshapen || cell.trim() === row.cells.get("phone")?.text;
      for (const one of identifiersIn(cell, mayBeShort))
        this.#refusalsInDoubt.set(one, joined(this.#refusalsInDoubt.get(one) ?? 0, doubt.code));
    }
    const code =
      codeOf("email", said.email) | codeOf("phone", said.phone) | (said.isSuppressed ? suppressed : 0);
    // The number has a consent of its own: another address may have the same number.
    const ofNumber = email === undefined ? code : codeOf("phone", said.phone);
    if (email !== undefined) this.#join(comparableEmail(email), code);
    if (phone === undefined) return;
    this.#join(phone, ofNumber);
    if (email !== undefined && !this.#ownerOfPhone.has(phone)) this.#ownerOfPhone.set(phone, email);
  }

  /** Call after all rows: the consent of a number counts for its owner, and so does a refusal that may be theirs. */
  settle(): void {
    for (const [phone, owner] of this.#ownerOfPhone)
      this.#join(comparableEmail(owner), this.#known.get(phone) ?? 0);
    if (this.#refusalsInDoubt.size === 0) return;
    for (const key of this.#known.keys()) {
      const owner = this.#ownerOfPhone.get(key);
      const person = owner === undefined ? key : comparableEmail(owner);
      const code = this.#known.get(person) ?? 0;
      const forms = key.startsWith("+") ? formsOfPhone(key) : [key];
      // A person who has refused as much is not in doubt.
      if (forms.every((form) => joined(code, this.#refusalsInDoubt.get(form) ?? 0) === code)) continue;
      this.#inUnreadableLines.add(key).add(person);
    }
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

  consentOf({ contact: { email, phone }, said }: ReadRow): PersonConsent {
    const owner = phone === undefined ? undefined : this.#ownerOfPhone.get(phone);
    const key = email && comparableEmail(email);
    const ownerKey = owner && comparableEmail(owner);
    const ofPerson = this.#known.get(key ?? ownerKey ?? phone ?? "") ?? 0;
    const all = {
      email: withCode(said.email, "email", ofPerson),
      phone: [ofPerson, this.#known.get(phone ?? "") ?? 0].reduce(
        (one, code) => withCode(one, "phone", code),
        said.phone,
      ),
    };
    const channels = ["email", "phone"] as const;
    return {
      email: all.email.optIn,
      phone: all.phone.optIn,
      isSuppressed: said.isSuppressed || (ofPerson & suppressed) !== 0,
      // Nothing is stricter than UNSUBSCRIBED.
      unclear: channels.filter(
        (channel) => all[channel].notUnderstood.length > 0 && all[channel].optIn !== "UNSUBSCRIBED",
      ),
      stricterElsewhere: channels.filter(
        (channel) => said[channel].optIn !== undefined && said[channel].optIn !== all[channel].optIn,
      ),
      isInUnreadableLine: [key, phone, ownerKey].some((one) => this.#inUnreadableLines.has(one ?? "")),
    };
  }

  #join(key: string, code: number): void {
    this.#known.set(key, joined(this.#known.get(key) ?? 0, code));
  }
}

/**
 * The cells that may name anybody who has refused, and the refusals: all cells of a misshapen line, with any refusal; and,
 * where a row is stricter than an opt-in, all if its address cannot be read, or that of the number which cannot be read.
 */
function doubtIn({ contact, said, issues, source, cells }: ReadRow): {
  cells: readonly string[];
  code: number;
} {
  if (source.isMisshapen) return { cells: source.cells, code: anyRefusal };
  const ofPhone = refusalCodeOf("phone", said.phone);
  const code = refusalCodeOf("email", said.email) | ofPhone | (said.isSuppressed ? suppressed : 0);
  if (code === 0) return { cells: [], code };
  const refused = new Set([...issues, ...contactIssues(contact)].map(({ field }) => field));
  const isUnknown = contact.email === undefined && contact.phone === undefined;
  if (isUnknown || refused.has("email")) return { cells: source.cells, code };
  const phone = cells.get("phone");
  return { cells: phone !== undefined && refused.has("phone") ? [phone.text] : [], code: ofPhone };
}

function refusalCodeOf(channel: Channel, said: Said): number {
  const isOptIn = said.optIn === "SUBSCRIBED" && said.notUnderstood.length === 0;
  return isOptIn ? 0 : codeOf(channel, said);
}

/** Two bits for the state, 0 for none, and one bit for unknown words. */
function codeOf(channel: Channel, { optIn, notUnderstood: words }: Said): number {
  const state = optIn === undefined ? 0 : optIns.indexOf(optIn) + 1;
  return (state | (words.length > 0 ? notUnderstood : 0)) << shift[channel];
}

function joined(one: number, other: number): number {
  const strictest = (channel: Channel) =>
    Math.max((one >> shift[channel]) & 3, (other >> shift[channel]) & 3) << shift[channel];
  const marks = (one | other) & ~((3 << shift.email) | (3 << shift.phone));
  return marks | strictest("email") | strictest("phone");
}

function withCode(said: Said, channel: Channel, code: number): Said {
  const bits = code >> shift[channel];
  const optIn = stricter(said.optIn, optIns[(bits & 3) - 1]);
  const isClear = (bits & notUnderstood) === 0 || said.notUnderstood.length > 0;
  return { ...said, optIn, notUnderstood: isClear ? said.notUnderstood : ["a word in another row"] };
}
