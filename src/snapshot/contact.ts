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

/** The line of a contact in the file. No attribute of a response is checked before. */
export function contactLine({ id, attributes }: Profile, fields: SnapshotFields): string {
  const { email, phone, email_opt_in, phone_opt_in, is_suppressed, updated } = attributes;
  return JSON.stringify({
    id,
    email: text(email),
    phone: text(phone),
    email_opt_in: text(email_opt_in),
    phone_opt_in: text(phone_opt_in),
    is_suppressed: shownFlag(is_suppressed),
    updated: text(updated),
    attributes: fields === "all" ? attributes : undefined,
  });
}

/** A phone may come as a number. JSON leaves out what is undefined. */
function text(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** What is shown of a contact's consent, to be compared. */
export function shownConsents(contact: SnapshotContact): (string | undefined)[] {
  const { email_opt_in, phone_opt_in, is_suppressed } = contact;
  return [email_opt_in, phone_opt_in, is_suppressed].map((value) =>
    value === undefined ? undefined : shownStatus(value),
  );
}

/** Whether it is unsubscribed from a channel, or suppressed. */
export function hasRefused(contact: SnapshotContact): boolean {
  return shownConsents(contact).some((value) => value === "UNSUBSCRIBED" || value === "TRUE");
}
