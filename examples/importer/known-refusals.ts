import type { Snapshot } from "audience-sdk/snapshot";
import type { Channel, Contact, RowIssue } from "../exports/contact.ts";

/** The reason of a row that would override a refusal at the service. */
export const knownRefusal =
  "the service knows a stricter one: the snapshot shows that the person has refused";

/** The reason of a changed row whose person has refused at the service since an earlier import, or is gone there. */
export const laterRefusal =
  "the service knows a stricter one: since an earlier import the person has refused there, or was deleted";

const channels: readonly Channel[] = ["email", "phone"];

/** The channels in which a snapshot of the service shows a refusal, and the contact says something better or nothing. */
export function knownRefusals(contact: Contact, snapshot: Snapshot | undefined): RowIssue[] {
  if (snapshot === undefined) return [];
  const { email, phone } = contact;
  const found = [
    email === undefined ? undefined : snapshot.find({ email }),
    phone === undefined ? undefined : snapshot.find({ phone }),
  ];
  const isRefused = (channel: Channel) => {
    const own = contact[`${channel}_opt_in`];
    if (own === "UNSUBSCRIBED" || (own ?? contact[channel]) === undefined) return false;
    return found.some(
      (shown) =>
        shown?.[`${channel}_opt_in`] === "UNSUBSCRIBED" ||
        (shown?.is_suppressed === true && own !== "NON_SUBSCRIBED" && contact.is_suppressed === undefined),
    );
  };
  return channels
    .filter((channel) => isRefused(channel))
    .map((channel) => ({ field: `${channel} consent`, message: `is held back: ${knownRefusal}` }));
}
