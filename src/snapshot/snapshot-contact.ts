import { type Consent, isDocumented, isRefusal, shownConsent, shownRefusals } from "../consent.ts";
import { contactKeys, isOnePersons } from "../contact-keys.ts";
import type { V1OptIn } from "../v1/schemas/contact.ts";
import type { Profile, ProfileAttributes } from "../v1/schemas/profile.ts";

/** A contact as the service showed it. What it did not show is absent. */
export interface SnapshotContact {
  /** The stable id of the contact. */
  readonly id: string;
  /** E-mail address. */
  readonly email?: string;
  /** Phone number. */
  readonly phone?: string;
  /** Consent to e-mail, typed as documented. */
  readonly email_opt_in?: V1OptIn;
  /** Consent to SMS and phone messaging: the same states. */
  readonly phone_opt_in?: V1OptIn;
  /** Whether the contact is suppressed. */
  readonly is_suppressed?: boolean;
  /** ISO 8601 timestamp of its last change. */
  readonly updated?: string;
  /** With `fields: "all"`: every attribute. */
  readonly attributes?: ProfileAttributes;
}

/** What a snapshot keeps of each contact: no names and no addresses but e-mail and phone, or everything. */
export type SnapshotFields = "consent" | "all";

/** What is another in a snapshot than in an earlier one. */
export type SnapshotChange =
  /** The earlier one does not have the contact: its consent counts too. */
  | { readonly kind: "new"; readonly contact: SnapshotContact; readonly before?: never }
  /** `before` is the contact as the earlier one has it. */
  | { readonly kind: "consent"; readonly contact: SnapshotContact; readonly before: SnapshotContact };

/** Somebody who is unsubscribed from a channel, or suppressed. */
export interface SnapshotRefusal {
  /** The contact, with all that the service showed of its consent. */
  readonly contact: SnapshotContact;
  /** When its page was asked for: a word of your own that is newer goes before it. */
  readonly readAt: Date;
}

/** Whether a documented opt-in is shown: a suppression alone tells of nobody who has unsubscribed. */
export function showsOptIn(contact: SnapshotContact): boolean {
  const words = [...shownConsent(contact)].filter(([channel]) => channel !== "is_suppressed");
  return words.some(([channel, word]) => isDocumented(channel, word));
}

/** What a snapshot keeps of a contact, as JSON has it. No attribute of a response is checked before. */
export function contactOf({ id, attributes }: Profile, fields: SnapshotFields): SnapshotContact {
  const { email, phone, email_opt_in, phone_opt_in, updated } = attributes;
  const suppression = shownConsent(attributes).get("is_suppressed");
  const kept = {
    id,
    email: text(email),
    phone: text(phone),
    email_opt_in: text(email_opt_in),
    phone_opt_in: text(phone_opt_in),
    is_suppressed: suppression && suppression === "TRUE",
    updated: text(updated),
    attributes: fields === "all" ? attributes : undefined,
  };
  // Safe: what is undefined is left out in JSON, and so in the file.
  return kept as SnapshotContact;
}

/** A phone may come as a number. */
function text(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** The keys of a contact, as two spellings of one address have them. Strangers may share a phone without a digit. */
export function keysOf({ id, email, phone }: Partial<SnapshotContact>): string[] {
  return contactKeys([{ contactUUID: id, email, phone }]).filter(isOnePersons);
}

/** A contact, and when its page was asked for. */
export interface ReadContact {
  readonly contact: SnapshotContact;
  readonly readAt: string;
}

/**
 * A contact that came twice: as it came last, with the stricter consent of the two in each channel (D167). A consent that
 * only the earlier page has shown is as old as that page.
 */
export function withStricterConsent(last: ReadContact, before: ReadContact): ReadContact {
  const [words, wordsBefore] = [shownConsent(last.contact), shownConsent(before.contact)];
  const stricter = Object.entries(fields).filter(
    ([channel]) => strictness(channel, wordsBefore) > strictness(channel, words),
  );
  if (stricter.length === 0) return last;
  const kept = Object.fromEntries(stricter.map(([, field]) => [field, before.contact[field]]));
  const { attributes } = last.contact;
  const all = attributes && { attributes: { ...attributes, ...kept } };
  return { contact: { ...last.contact, ...kept, ...all }, readAt: before.readAt };
}

const fields = { email: "email_opt_in", phone: "phone_opt_in", is_suppressed: "is_suppressed" } as const;
const others = ["FALSE", "SUBSCRIBED", "NON_SUBSCRIBED"];

/** What is not shown is the least; a word that is not documented says more than one that is no refusal. */
function strictness(channel: string, words: Consent): number {
  const word = words.get(channel);
  if (word === undefined) return -1;
  if (isRefusal(channel, word)) return others.length + 1;
  return isDocumented(channel, word) ? others.indexOf(word) : others.length;
}

/** Whether its consent is another in a channel. One that is no longer shown is no change. */
export function hasOtherConsent(contact: SnapshotContact, earlier: SnapshotContact): boolean {
  const before = shownConsent(earlier);
  return [...shownConsent(contact)].some(([channel, word]) => word !== before.get(channel));
}

/**
 * Whether it is unsubscribed from a channel, or suppressed: in one in which an earlier contact is not, or at another address,
 * as a word counts for the address that it is shown with.
 */
export function hasRefused(contact: SnapshotContact, earlier?: SnapshotContact): boolean {
  const before = refusedAddresses(earlier);
  return refusedAddresses(contact).some((refused) => !before.includes(refused));
}

function refusedAddresses(contact: SnapshotContact | undefined): string[] {
  return shownRefusals(contact).flatMap((channel) => {
    const addresses = contactKeys([{ email: contact?.email, phone: contact?.phone }]);
    const itsOwn = addresses.filter((key) => channel === "is_suppressed" || key.startsWith(`${channel}:`));
    return ["", ...itsOwn].map((address) => `${channel} ${address}`);
  });
}
