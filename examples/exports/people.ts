import { type Channel, optIns, type OptIn, stricter } from "./contact.ts";
import type { ReadRow } from "./read-row.ts";
import type { Said } from "./row-consent.ts";

/** What all rows together say of one person. */
export interface PersonConsent {
  readonly email: OptIn | undefined;
  readonly phone: OptIn | undefined;
  readonly isSuppressed: boolean;
  /** Channels of which a word was not understood, that could be stricter than what was. */
  readonly unclear: readonly Channel[];
  /** Channels of which another row says something stricter than this one. */
  readonly stricterElsewhere: readonly Channel[];
}

// What is known of a person fits into a small number, as a file may name hundreds of thousands.
const shift: Readonly<Record<Channel, number>> = { email: 0, phone: 3 };
const suppressed = 1 << 6;
const notUnderstood = 4;

/**
 * The strictest word on every person, over all rows of all files, whatever their order.
 *
 * A person is known by the e-mail address; without one, by the telephone number, whose words also count for the first
 * address that it stands beside. Hand in all rows, those that will not be sent too: a refusal counts even where the
 * rest of its row cannot be read.
 */
export class People {
  readonly #known = new Map<string, number>();
  readonly #ownerOfPhone = new Map<string, string>();

  add({ contact: { email, phone }, said }: ReadRow): void {
    const code =
      codeOf("email", said.email) | codeOf("phone", said.phone) | (said.isSuppressed ? suppressed : 0);
    // The number has words of its own: another address may have the same.
    const ofNumber = email === undefined ? code : codeOf("phone", said.phone);
    if (email !== undefined) this.#join(email, code);
    if (phone === undefined) return;
    this.#join(phone, ofNumber);
    if (email !== undefined && !this.#ownerOfPhone.has(phone)) this.#ownerOfPhone.set(phone, email);
  }

  /** Once all rows are in: what was said of a number counts for its owner. */
  settle(): void {
    for (const [phone, owner] of this.#ownerOfPhone) this.#join(owner, this.#known.get(phone) ?? 0);
  }

  /** How many there are: addresses, and numbers that stand beside none. */
  get size(): number {
    return this.#known.size - this.#ownerOfPhone.size;
  }

  /** The address that has this telephone number, where it is another one than the row's. */
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
    };
  }

  #join(key: string, code: number): void {
    this.#known.set(key, joined(this.#known.get(key) ?? 0, code));
  }
}

/** Two bits for the state, 0 being none, and one for words that are not understood. */
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
