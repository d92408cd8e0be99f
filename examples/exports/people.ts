import { type Channel, optIns, type OptIn, stricter } from "./contact.ts";
import { parsePhone } from "./phone.ts";
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

/**
 * The strictest consent of every person, over all rows of all files, in any order.
 *
 * The e-mail address identifies a person; without one, the telephone number, whose consent also counts for the first
 * address beside it. Add all rows, also those that will not be sent: a refusal counts even in an invalid row.
 */
export class People {
  readonly #known = new Map<string, number>();
  readonly #ownerOfPhone = new Map<string, string>();
  readonly #inUnreadableLines = new Set<string>();

  add(row: ReadRow): void {
    const { said } = row;
    const { email, phone } = row.contact;
    for (const one of cellsInDoubt(row).flatMap(identifiersIn)) this.#inUnreadableLines.add(one);
    const code =
      codeOf("email", said.email) | codeOf("phone", said.phone) | (said.isSuppressed ? suppressed : 0);
    // The number has a consent of its own: another address may have the same number.
    const ofNumber = email === undefined ? code : codeOf("phone", said.phone);
    if (email !== undefined) this.#join(email, code);
    if (phone === undefined) return;
    this.#join(phone, ofNumber);
    if (email !== undefined && !this.#ownerOfPhone.has(phone)) this.#ownerOfPhone.set(phone, email);
  }

  /** Call after all rows: the consent of a number counts for its owner. */
  settle(): void {
    for (const [phone, owner] of this.#ownerOfPhone) {
      this.#join(owner, this.#known.get(phone) ?? 0);
      if (this.#inUnreadableLines.has(phone)) this.#inUnreadableLines.add(owner);
    }
  }

  /** The number of persons: addresses, and numbers without an address. */
  get size(): number {
    return this.#known.size - this.#ownerOfPhone.size;
  }

  /** The address of this telephone number, if it differs from the row's. */
  ownerOfPhone({ contact: { email, phone } }: ReadRow): string | undefined {
    const owner = phone === undefined || email === undefined ? undefined : this.#ownerOfPhone.get(phone);
    return owner === email ? undefined : owner;
  }

  consentOf({ contact: { email, phone }, said }: ReadRow): PersonConsent {
    const owner = phone === undefined ? undefined : this.#ownerOfPhone.get(phone);
    const ofPerson = this.#known.get(email ?? owner ?? phone ?? "") ?? 0;
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
      isInUnreadableLine: [email, phone, owner].some((one) => this.#inUnreadableLines.has(one ?? "")),
    };
  }

  #join(key: string, code: number): void {
    this.#known.set(key, joined(this.#known.get(key) ?? 0, code));
  }
}

/**
 * The cells that may hide a refusal of anybody named in them: those of a misshapen line; and, where a row is stricter than
 * an opt-in, all if its address cannot be read, or that of the number which cannot be read.
 */
function cellsInDoubt({ contact, said, issues, source, cells }: ReadRow): readonly string[] {
  if (source.isMisshapen) return source.cells;
  const isOptIn = ({ optIn, notUnderstood: words }: Said) =>
    (optIn === undefined || optIn === "SUBSCRIBED") && words.length === 0;
  if (isOptIn(said.email) && isOptIn(said.phone) && !said.isSuppressed) return [];
  const refused = new Set([...issues, ...contactIssues(contact)].map(({ field }) => field));
  const isUnknown = contact.email === undefined && contact.phone === undefined;
  if (isUnknown || refused.has("email")) return source.cells;
  const phone = cells.get("phone");
  return phone === undefined || !refused.has("phone") || isOptIn(said.phone) ? [] : [phone.text];
}

/** The addresses and numbers anywhere in a cell, whatever is around them. */
function identifiersIn(cell: string): string[] {
  const text = cell
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .toLowerCase();
  const addresses = text.match(/[^\s,;:|<>()[\]"“”„«»@]{1,64}@[\p{L}\p{M}\p{N}.-]{1,255}/gu) ?? [];
  const numbers = text.match(/\+?\d[\d\s().\p{Pd}\u2212]{5,40}\d/gu) ?? [];
  return [
    ...addresses.flatMap((one) => [one, one.replace(/^[^\p{L}\p{N}_]+|[.-]+$/gu, "")]),
    // Brevo writes a number without its plus.
    ...numbers
      .flatMap((one) => [parsePhone(one), parsePhone(`+${one}`)])
      .flatMap((parsed) => ("value" in parsed ? [parsed.value] : [])),
  ];
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
