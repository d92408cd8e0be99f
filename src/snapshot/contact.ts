import type { V1OptIn } from "../v1/schemas/contact.ts";
import { type Profile, type ProfileAttributes, shownFlag, shownStatus } from "../v1/schemas/profile.ts";

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

/** What a snapshot keeps of a contact, as JSON has it. No attribute of a response is checked before. */
export function contactOf({ id, attributes }: Profile, fields: SnapshotFields): SnapshotContact {
  const { email, phone, email_opt_in, phone_opt_in, is_suppressed, updated } = attributes;
  const shown = {
    id,
    email: text(email),
    phone: text(phone),
    email_opt_in: text(email_opt_in),
    phone_opt_in: text(phone_opt_in),
    is_suppressed: shownFlag(is_suppressed),
    updated: text(updated),
    attributes: fields === "all" ? attributes : undefined,
  };
  // Safe: what is undefined is left out in JSON, and so in the file.
  return shown as SnapshotContact;
}

const channels = ["email_opt_in", "phone_opt_in", "is_suppressed"] as const;

/** A contact, and when its page was asked for. */
export interface ReadContact extends SnapshotContact {
  readonly readAt: string;
}

/**
 * A contact that came twice: as it came last, with the stricter consent of the two in each channel (D167). A consent that
 * only the earlier page has shown is as old as that page.
 */
export function withStricterConsent(last: ReadContact, before: ReadContact): ReadContact {
  const kept = channels.filter((channel) => strictness(before[channel]) > strictness(last[channel]));
  const stricter = Object.fromEntries(kept.map((channel) => [channel, before[channel]]));
  const { attributes } = last;
  const { readAt } = kept.length > 0 ? before : last;
  return { ...last, ...stricter, readAt, ...(attributes && { attributes: { ...attributes, ...stricter } }) };
}

const words = ["", "FALSE", "SUBSCRIBED", "NON_SUBSCRIBED"];
const refusals = ["UNSUBSCRIBED", "TRUE"];

/** What is not shown is the least; a word that is not documented says more than one that is no refusal. */
function strictness(value: string | boolean | undefined): number {
  const word = shownStatus(value);
  if (refusals.includes(word)) return words.length + 1;
  return words.includes(word) ? words.indexOf(word) : words.length;
}

/** A phone may come as a number. JSON leaves out what is undefined. */
function text(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** What is shown of a contact's consent, to be compared. */
export function shownConsents(contact: SnapshotContact): (string | undefined)[] {
  return channels.map((channel) => {
    const value = contact[channel];
    return value === undefined ? undefined : shownStatus(value);
  });
}

/** Whether it is unsubscribed from a channel, or suppressed: in one in which an earlier contact is not. */
export function hasRefused(contact: SnapshotContact, earlier?: SnapshotContact): boolean {
  const before = earlier ? shownConsents(earlier) : [];
  return shownConsents(contact).some(
    (value, at) => value !== undefined && refusals.includes(value) && !refusals.includes(before[at] ?? ""),
  );
}
