import { type Channel, optIns, type OptIn, stricter } from "./contact.ts";
import { comparableEmail, endsOfPhone, formsOfPhone, identifiersIn } from "./identifiers.ts";
import type { ReadRow } from "./read-row.ts";
import type { RowSaid, Said } from "./row-consent.ts";
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
}

// A person's consent is encoded in a small number, because a file may have hundreds of thousands of persons.
const shift: Readonly<Record<Channel, number>> = { email: 0, phone: 3 };
const suppressed = 1 << 6;
const notUnderstood = 4;
const ofPhone = 7 << shift.phone;
const anyRefusal = (7 << shift.email) | ofPhone | suppressed;

/**
 * The strictest consent of every person, over all rows of all files, in any order.
 *
 * The e-mail address identifies a person; without one, the telephone number, whose consent also counts for the first
 * address beside it. Add all rows, also those that will not be sent: a refusal counts even in an invalid row.
 */
export class People {
  readonly #known = new Map<string, number>();
  readonly #ownerOfPhone = new Map<string, string>();
  /** By the addresses and numbers that may be those of the person. */
  readonly #refusalsInDoubt = new Map<string, number>();
  /** The refusals of numbers that may be anybody's, by each form in which a row may have them. */
  readonly #refusalsByForm = new Map<string, number>();
  readonly #inUnreadableLines = new Set<string>();

  add(row: ReadRow): void {
    const { said } = row;
    const { email, phone } = row.contact;
    const doubt = doubtIn(row);
    for (const cell of doubt.cells) {
      // A few digits in another cell may be a postal code.
      const mayBeShort = row.source.isMisshapen || row.unreadableNumbers.includes(cell.trim());
      for (const one of identifiersIn(cell, mayBeShort)) {
        join(this.#refusalsInDoubt, one, doubt.code);
        if (one.startsWith("+")) this.#addRefusal(one, doubt.code);
      }
    }
    const code =
      codeOf("email", said.email) | codeOf("phone", said.phone) | (said.isSuppressed ? suppressed : 0);
    // The number has a consent of its own: another address may have the same number.
    const ofNumber = email === undefined ? code : codeOf("phone", said.phone);
    if (email !== undefined) join(this.#known, comparableEmail(email), code);
    if (phone === undefined) return;
    join(this.#known, phone, ofNumber);
    if (email !== undefined) {
      if (!this.#ownerOfPhone.has(phone)) this.#ownerOfPhone.set(phone, email);
      return;
    }
    const refusal = refusalCode(said) & ~ofPhone;
    if (refusal !== 0) this.#addRefusal(phone, refusal);
  }

  #addRefusal(phone: string, code: number): void {
    for (const form of formsOfPhone(phone)) join(this.#refusalsByForm, form, code);
  }

  /** Call after all rows: the consent of a number counts for its owner, and so does a refusal that may be theirs. */
  settle(): void {
    for (const [phone, owner] of this.#ownerOfPhone)
      join(this.#known, comparableEmail(owner), this.#known.get(phone) ?? 0);
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
    const ofPerson = this.#known.get(key ?? (owner && comparableEmail(owner)) ?? phone ?? "") ?? 0;
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
    };
  }

  /** Whether a line that may be about the person cannot be read, and may hide a refusal. */
  isInUnreadableLine(row: ReadRow): boolean {
    const { email, phone } = row.contact;
    const owner = phone === undefined ? undefined : this.#ownerOfPhone.get(phone);
    return (
      [email && comparableEmail(email), phone, owner && comparableEmail(owner)].some((key) =>
        this.#inUnreadableLines.has(key ?? ""),
      ) || this.#mayHaveRefused(row)
    );
  }

  /** Whether a number of the row, which cannot be read, may be that of a refusal without an address. */
  #mayHaveRefused({ contact: { email }, unreadableNumbers }: ReadRow): boolean {
    if (email === undefined) return false;
    const ofPerson = this.#known.get(comparableEmail(email)) ?? 0;
    const numbers = unreadableNumbers.flatMap((text) => identifiersIn(text, true));
    return numbers.some((own) => {
      const inDoubt = [own, ...endsOfPhone(own)].map((end) => this.#refusalsInDoubt.get(end));
      // That number is not sent, nor is its consent.
      return [this.#refusalsByForm.get(own), ...inDoubt].some(
        (code = 0) => joined(ofPerson, code & ~ofPhone) !== ofPerson,
      );
    });
  }
}

/**
 * The cells that may name anybody who has refused, and the refusals: all cells of a misshapen line, with any refusal; and,
 * where a row is stricter than an opt-in, all if its address cannot be read, or that of the number which cannot be read.
 */
function doubtIn({ contact, said, issues, source, unreadableNumbers }: ReadRow): {
  cells: readonly string[];
  code: number;
} {
  if (source.isMisshapen) return { cells: source.cells, code: anyRefusal };
  const code = refusalCode(said);
  if (code === 0) return { cells: [], code };
  const refused = new Set([...issues, ...contactIssues(contact)].map(({ field }) => field));
  const isUnknown = contact.email === undefined && contact.phone === undefined;
  if (isUnknown || refused.has("email")) return { cells: source.cells, code };
  return { cells: unreadableNumbers, code: code & ofPhone };
}

/** The code of what a row says, without its opt-ins. */
function refusalCode({ email, phone, isSuppressed }: RowSaid): number {
  const of = (channel: Channel, said: Said) =>
    said.optIn === "SUBSCRIBED" && said.notUnderstood.length === 0 ? 0 : codeOf(channel, said);
  return of("email", email) | of("phone", phone) | (isSuppressed ? suppressed : 0);
}

/** Two bits for the state, 0 for none, and one bit for unknown words. */
function codeOf(channel: Channel, { optIn, notUnderstood: words }: Said): number {
  const state = optIn === undefined ? 0 : optIns.indexOf(optIn) + 1;
  return (state | (words.length > 0 ? notUnderstood : 0)) << shift[channel];
}

function join(codes: Map<string, number>, key: string, code: number): void {
  codes.set(key, joined(codes.get(key) ?? 0, code));
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
