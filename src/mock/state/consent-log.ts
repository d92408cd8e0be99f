import type { MockConsentChange, MockOrganizationState } from "./organization-state.ts";

type Channel = MockConsentChange["channel"];

/** What a person does that changes no consent: asks again, or refuses what is refused already. */
export interface PersonalWord {
  contactId: string;
  channel: Channel;
  refuses: boolean;
  /** The length of the history at that time. */
  after: number;
}

/** The state of an organization as a file has it. */
export type SavedOrganization = MockOrganizationState & { personalWords?: PersonalWord[] };

/** The history of the consents of one organization, and the entries of it that went over a refusal. */
export class ConsentLog {
  readonly entries: MockConsentChange[] = [];
  readonly words: PersonalWord[] = [];
  readonly resubscriptions: MockConsentChange[] = [];
  /** The refusals that stand, each a contact and a channel. */
  readonly #refused = new Set<string>();

  /** Adds a change. `true` if it is a resubscription. */
  add(change: MockConsentChange): boolean {
    this.entries.push(change);
    const { contactId, channel, from, to, by } = change;
    if (rankOf(to) === 0) this.#refused.add(keyOf(contactId, channel));
    else if (by === "person") this.#refused.delete(keyOf(contactId, channel));
    const isRaised = from !== undefined && rankOf(to) > rankOf(from);
    if (!isRaised || !this.#refused.has(keyOf(contactId, channel))) return false;
    this.resubscriptions.push(change);
    return true;
  }

  say(contactId: string, channel: Channel, refuses: boolean): void {
    this.words.push({ contactId, channel, refuses, after: this.entries.length });
    if (refuses) this.#refused.add(keyOf(contactId, channel));
    else this.#refused.delete(keyOf(contactId, channel));
  }

  /** The same log, made anew of what was saved. */
  static of(entries: readonly MockConsentChange[], words: readonly PersonalWord[]): ConsentLog {
    const log = new ConsentLog();
    const waiting = [...words];
    for (const entry of entries) {
      while (waiting[0] !== undefined && waiting[0].after <= log.entries.length)
        log.#repeat(waiting.shift()!);
      log.add(entry);
    }
    for (const word of waiting) log.#repeat(word);
    return log;
  }

  #repeat({ contactId, channel, refuses }: PersonalWord): void {
    this.say(contactId, channel, refuses);
  }
}

/** A refusal, then a state without one, then a subscription. A state that the document does not name hides a refusal, too. */
function rankOf(value: string | boolean): number {
  if (typeof value === "boolean") return value ? 0 : 1;
  if (value === "UNSUBSCRIBED") return 0;
  return value === "SUBSCRIBED" ? 2 : 1;
}

const keyOf = (contactId: string, channel: Channel): string => JSON.stringify([contactId, channel]);
