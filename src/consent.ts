// The consent that a write states of a contact, in one form for both families.
import { contactKeys, type Fields, identifiersOf, ownFields, v2ContactKeys } from "./contact-keys.ts";

/**
 * What a write says, by channel: `email`, `phone`, any other channel of v2, and `is_suppressed`. Statuses are in capitals, as
 * v1 writes them ("States and transitions"). An empty one: the write names an address of the channel, and says nothing of it.
 */
export type Consent = ReadonlyMap<string, string>;

/** What a write says of a contact, by the keys of the contact. A v2 contact says it for each identifier. */
export interface ConsentWrite {
  readonly contacts: readonly string[];
  readonly consent: Consent;
}

export function isRefusal(channel: string, status: string): boolean {
  return status === (channel === "is_suppressed" ? "TRUE" : "UNSUBSCRIBED");
}

/** The channels that a consent refuses. */
export function refusalsOf(consent: Consent): string[] {
  return [...consent].flatMap(([channel, status]) => (isRefusal(channel, status) ? [channel] : []));
}

/** The value of a channel that the service decides, and may set to `SUBSCRIBED`. It equals no status. */
export const decidedByService = "decided by the service";

/** The consent of a write that is not known: it may do anything with the channels of its contact. */
export const unknownConsent: Consent = new Map(
  ["email", "phone", "is_suppressed"].map((channel) => [channel, ""]),
);

/** The states of a v1 contact's consent on one channel ("States and transitions"). */
export const optInStates = ["SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED"] as const;

const v1ConsentFields = [
  ["email", "email_opt_in"],
  ["phone", "phone_opt_in"],
] as const;

/** The consent that a v1 contact states ("v1 contact"). It need not be valid. */
export function v1Consent(contact: unknown, unstatedEmail = ""): Consent {
  const fields = ownFields(contact);
  const consent = new Map<string, string>();
  for (const [channel, optIn] of v1ConsentFields) {
    const status = fields[optIn];
    if (status !== undefined) consent.set(channel, inCapitals(status));
    else if (fields[channel] !== undefined) consent.set(channel, channel === "email" ? unstatedEmail : "");
  }
  const { is_suppressed } = fields;
  if (is_suppressed !== undefined) consent.set("is_suppressed", inCapitals(is_suppressed));
  return consent;
}

export function v1ConsentWrites(contact: unknown, unstatedEmail?: string): ConsentWrite[] {
  const consent = v1Consent(contact, unstatedEmail);
  return consent.size > 0 ? [{ contacts: contactKeys([contact]), consent }] : [];
}

/** A suppression as a response shows it: also as a string or a number. */
const shownSuppressions = new Map(Object.entries({ TRUE: "TRUE", 1: "TRUE", FALSE: "FALSE", 0: "FALSE" }));

/** The consent that the service, or a snapshot of it, shows of a contact (D178): what is not shown is absent. */
export function shownConsent(contact: object | undefined): Consent {
  const { email_opt_in, phone_opt_in, is_suppressed } = ownFields(contact);
  const statuses = {
    email: inCapitals(email_opt_in ?? ""),
    phone: inCapitals(phone_opt_in ?? ""),
    is_suppressed: shownSuppressions.get(inCapitals(is_suppressed)) ?? "",
  };
  return new Map(Object.entries(statuses).filter(([, status]) => status !== ""));
}

export function shownRefusals(contact: object | undefined): string[] {
  return refusalsOf(shownConsent(contact));
}

/** Whether a consent status that is shown is a documented one. */
export function isDocumented(channel: string, status: string): boolean {
  return channel === "is_suppressed" || optInStates.some((state) => state === status);
}

/**
 * Whether a v1 contact write that is carried out twice leaves the same state. Without `email_opt_in` add-to-list first
 * creates the contact as `NON_SUBSCRIBED`, and then makes it `SUBSCRIBED` ("States and transitions"); customer/create
 * does not document the case. With `double_opt_in` the service could send a second mail.
 */
export function isRepeatableV1Write(contact: Fields): boolean {
  const statuses = [...v1Consent(contact).values()];
  return contact["double_opt_in"] !== true && !statuses.includes("");
}

/**
 * What a v2 contact states, identifier by identifier ("v2 identifier object"): a status counts for the address of its own
 * identifier, and not for another of the same type. It need not be valid.
 */
export function v2ConsentWrites(contact: unknown): ConsentWrite[] {
  const identifiers = identifiersOf(contact);
  return identifiers.map((identifier) => {
    const { type, channels } = identifier;
    const stated = ownFields(channels);
    const channelNames = new Set([String(type), ...Object.keys(stated)]);
    const statusOf = (channel: string) => inCapitals(ownFields(stated[channel])["status"] ?? "");
    const ownIdentifiers = identifiers.filter((other) => other === identifier || other["type"] !== type);
    return {
      contacts: v2ContactKeys({ identifiers: ownIdentifiers }),
      consent: new Map([...channelNames].map((channel) => [channel, statusOf(channel)])),
    };
  });
}

function inCapitals(status: unknown): string {
  return String(status).trim().toUpperCase();
}
