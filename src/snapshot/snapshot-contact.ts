import { type Consent, isDocumented, isRefusal, shownConsent, shownRefusals } from "../consent.ts";
import { contactKeys, isOnePersons, ownFields } from "../contact-keys.ts";
import type { V1OptIn } from "../v1/contact-schema.ts";
import type { Profile, ProfileAttributes } from "../v1/profile.ts";

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

/** The fields that a snapshot keeps of each contact: no names and no addresses but e-mail and phone, or everything. */
export type SnapshotFields = "consent" | "all";

/** A change of a contact since an earlier snapshot. */
export type SnapshotChange =
  /** The earlier snapshot does not have the contact: its consent counts too. */
  | { readonly kind: "new"; readonly contact: SnapshotContact; readonly before?: never }
  /** `before` is the contact as the earlier snapshot has it. */
  | { readonly kind: "consent"; readonly contact: SnapshotContact; readonly before: SnapshotContact };

/** A contact of a snapshot who is unsubscribed from a channel, or suppressed. */
export interface SnapshotRefusal {
  /** The contact, with all that the service showed of its consent. */
  readonly contact: SnapshotContact;
  /** When its page was asked for: a word of your own that is newer goes before it. */
  readonly readAt: Date;
}

/** Whether a contact shows a documented opt-in: a suppression alone tells of nobody who has unsubscribed. */
export function showsOptIn(contact: SnapshotContact): boolean {
  const words = [...shownConsent(contact)].filter(([channel]) => channel !== "is_suppressed");
  return words.some(([channel, word]) => isDocumented(channel, word));
}

/** What a snapshot keeps of a profile, as JSON has it. No attribute of a response is checked before. */
export function snapshotContactOf({ id, attributes }: Profile, fields: SnapshotFields): SnapshotContact {
  const { email, phone, email_opt_in, phone_opt_in, updated } = ownFields(attributes);
  const shown = shownConsent(attributes);
  const suppression = shown.get("is_suppressed");
  // A documented status in another case is that status (D178); any other word stays as it came.
  const optInOf = (channel: string, given: unknown) => {
    const status = shown.get(channel) ?? "";
    return isDocumented(channel, status) ? status : textOf(given);
  };
  const contact = {
    id,
    email: textOf(email),
    phone: textOf(phone),
    email_opt_in: optInOf("email", email_opt_in),
    phone_opt_in: optInOf("phone", phone_opt_in),
    is_suppressed: suppression && suppression === "TRUE",
    updated: textOf(updated),
    attributes: fields === "all" ? attributes : undefined,
  };
  // Safe: what is undefined is left out in JSON, and so in the snapshot's file.
  return contact as SnapshotContact;
}

/** The text of an attribute, of which a phone may come as a number. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** The keys of a contact, the same for two spellings of an address. Strangers may share a phone without a digit. */
export function snapshotKeysOf(contact: Partial<SnapshotContact>): string[] {
  return contactKeys([{ ...contact, contactUUID: contact.id }]).filter(isOnePersons);
}

/** A contact as a snapshot was read, and when its page was asked for. */
export interface ReadContact {
  readonly contact: SnapshotContact;
  readonly readAt: string;
}

/**
 * A contact that came twice in one read: as it came last, with the stricter consent of the two in each channel (D167). A
 * consent that only the earlier page has shown is as old as that page.
 */
export function withStricterConsent(lastRead: ReadContact, earlierRead: ReadContact): ReadContact {
  const [lastConsent, earlierConsent] = [shownConsent(lastRead.contact), shownConsent(earlierRead.contact)];
  const stricterFields = Object.entries(optInFields).filter(
    ([channel]) => strictness(channel, earlierConsent) > strictness(channel, lastConsent),
  );
  if (stricterFields.length === 0) return lastRead;
  const stricter = Object.fromEntries(stricterFields.map(([, field]) => [field, earlierRead.contact[field]]));
  const { attributes } = lastRead.contact;
  const allFields = attributes && { attributes: { ...attributes, ...stricter } };
  return { contact: { ...lastRead.contact, ...stricter, ...allFields }, readAt: earlierRead.readAt };
}

const optInFields = { email: "email_opt_in", phone: "phone_opt_in", is_suppressed: "is_suppressed" } as const;
const nonRefusals = ["FALSE", "SUBSCRIBED", "NON_SUBSCRIBED"];

/** A consent that is not shown is the least strict; a word that is not documented is stricter than one that is no refusal. */
function strictness(channel: string, consent: Consent): number {
  const word = consent.get(channel);
  if (word === undefined) return -1;
  if (isRefusal(channel, word)) return nonRefusals.length + 1;
  return isDocumented(channel, word) ? nonRefusals.indexOf(word) : nonRefusals.length;
}

/** Whether a contact's consent has changed in a channel. A consent that is no longer shown is no change. */
export function hasOtherConsent(contact: SnapshotContact, earlier: SnapshotContact): boolean {
  const earlierConsent = shownConsent(earlier);
  return [...shownConsent(contact)].some(([channel, word]) => word !== earlierConsent.get(channel));
}

/**
 * Whether a contact is unsubscribed from a channel, or suppressed: in a channel in which an earlier contact is not, or at
 * another address, as a word counts for the address that it is shown with.
 */
export function hasRefused(contact: SnapshotContact, earlier?: SnapshotContact): boolean {
  const earlierRefusals = refusedAddresses(earlier);
  return refusedAddresses(contact).some((refused) => !earlierRefusals.includes(refused));
}

function refusedAddresses(contact: SnapshotContact | undefined): string[] {
  return shownRefusals(contact).flatMap((channel) => {
    const addresses = contactKeys([contact]);
    const ofChannel = addresses.filter((key) => channel === "is_suppressed" || key.startsWith(`${channel}:`));
    return ["", ...ofChannel].map((address) => `${channel} ${address}`);
  });
}
