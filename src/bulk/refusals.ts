// What writes say of consent, as values, and how a refusal that is known takes the place of a write's own word. Pure.
import { contactKeys, decidedByService } from "../consent.ts";
import { type CustomRequest, documentedContact, isAddContact } from "../custom-request.ts";
import { isRecord } from "../values/predicates.ts";
import type { Write } from "../write.ts";

/**
 * What a write says, by channel: `email`, `phone`, another one of v2, or `is_suppressed`. Words are in capitals. An empty
 * one: the write names an address of the channel, and says nothing of it. `decidedByService`: it says nothing of an e-mail
 * that it adds to a list, which subscribes a contact that exists ("States and transitions").
 */
export type Said = ReadonlyMap<string, string>;

/** How the refusal of a channel is known. */
export type KnownBy = "run" | "process" | "service";

/** Whose refusals are known, by channel. */
export type Known = ReadonlyMap<string, KnownBy>;

/** The channels of a row that were sent as a refusal, though the row said otherwise, and how each was known. */
export interface Kept {
  /** The consent to e-mail. */
  readonly email?: KnownBy | undefined;
  /** The consent to SMS and phone messaging. */
  readonly phone?: KnownBy | undefined;
  /** The suppression. */
  readonly is_suppressed?: KnownBy | undefined;
  /** Another channel of v2. */
  readonly [channel: string]: KnownBy | undefined;
}

/** A write with the refusals that are known. */
export interface RestatedWrite {
  readonly write: Write;
  readonly kept: Kept;
  /** What was restated, as one text. */
  readonly channels: string;
  readonly unsaid?: undefined;
}

/** A write with the refusals that are known, or the channels of which it cannot say them. */
export type Restated = RestatedWrite | { readonly unsaid: readonly string[] };

type Fields = Readonly<Record<string, unknown>>;

const suppressed = "is_suppressed";

/** The channels of the documented families, each with its v1 field; the key of its address is its name. */
const v1Channels = [
  ["email", "email_opt_in"],
  ["phone", "phone_opt_in"],
] as const;

/** Whether the word is a refusal (contract: compared in any case). */
export function isRefusal(channel: string, word: string): boolean {
  return word === (channel === suppressed ? "TRUE" : "UNSUBSCRIBED");
}

/** What the write says. It need not be valid. */
export function saidBy(write: Write): Said {
  switch (write.operation) {
    case "v1.events.send":
      return new Map();
    case "v2.contacts.upsert":
      return v2Said(write.contact);
    case "v1.request":
    case "v2.request":
      return requestSaid(write.request);
    case "v1.contactGroups.addContact":
      return v1Said(write.contact, decidedByService);
    default:
      return v1Said(write.contact);
  }
}

/** A body that is not documented is not read for names: it may do anything with any channel of the contact beside it. */
function requestSaid(request: CustomRequest): Said {
  if (!isRecord(request)) return new Map();
  const documented = v1Said(documentedContact(request), isAddContact(request) ? decidedByService : "");
  return documented.size > 0 || !request.contact
    ? documented
    : new Map(["email", "phone", suppressed].map((channel) => [channel, ""]));
}

function v1Said(contact: unknown, unstatedEmail = ""): Said {
  const said = new Map<string, string>();
  if (!isRecord(contact)) return said;
  const fields: Fields = contact;
  for (const [channel, field] of v1Channels) {
    const word = fields[field];
    if (word !== undefined) said.set(channel, inCapitals(word));
    else if (fields[channel] !== undefined) said.set(channel, channel === "email" ? unstatedEmail : "");
  }
  if (fields[suppressed] !== undefined) said.set(suppressed, inCapitals(fields[suppressed]));
  return said;
}

function v2Said(contact: unknown): Said {
  const said = new Map<string, string>();
  for (const { type, channels } of identifiersOf(contact)) {
    for (const channel of new Set([type, ...Object.keys(channels)])) {
      const value = channels[channel];
      const word = inCapitals(isRecord(value) ? (value["status"] ?? "") : "");
      // Of two words the one that is no refusal is the one to be judged.
      if (!isRefusal(channel, word) || !said.has(channel)) said.set(channel, word);
    }
  }
  return said;
}

function identifiersOf(contact: unknown): { type: string; id: unknown; channels: Fields }[] {
  const identifiers: unknown = isRecord(contact) ? contact["identifiers"] : undefined;
  if (!Array.isArray(identifiers)) return [];
  return identifiers.filter(isRecord).map((each) => {
    const { type, id, channels } = each;
    return { type: String(type), id, channels: isRecord(channels) ? channels : {} };
  });
}

function inCapitals(word: unknown): string {
  return String(word).trim().toUpperCase();
}

/** The keys of the contact that a write names, as in the order of writes. It need not be valid. */
export function contactsOf(write: Write): string[] {
  switch (write.operation) {
    case "v1.events.send":
      return isRecord(write.event)
        ? contactKeys([write.event.contact, { contactUUID: write.event.contactUUID }])
        : [];
    case "v2.contacts.upsert":
      return contactKeys(identifiersOf(write.contact).map(({ type, id }) => ({ [type]: id })));
    case "v1.request":
    case "v2.request":
      return isRecord(write.request)
        ? contactKeys([write.request.contact, documentedContact(write.request)])
        : [];
    default:
      return contactKeys([write.contact]);
  }
}

/** Whether something is refused. */
export function hasRefusal(said: Said): boolean {
  return [...said].some(([channel, word]) => isRefusal(channel, word));
}

/** Whether a refusal is all that is said: an address without a word beside it says nothing. */
export function saysOnlyRefusals(said: Said): boolean {
  return hasRefusal(said) && [...said].every(([channel, word]) => word === "" || isRefusal(channel, word));
}

/** Whether somebody may become subscribed. */
export function subscribes(said: Said): boolean {
  const words = [...said].filter(([channel]) => channel !== suppressed);
  return words.some(
    ([channel, word]) => !isRefusal(channel, word) && word !== "" && word !== "NON_SUBSCRIBED",
  );
}

/**
 * The write with each known refusal in place of another word, or of none at an address that it names. A suppression is
 * restated in every write of a v1 contact, as the document gives an omitted one a default. What asks the person by mail goes
 * with the consent to e-mail.
 */
export function withRefusals(write: Write, known: Known): Restated {
  const said = saidBy(write);
  const kept: Record<string, KnownBy> = {};
  const restated = new Set<string>();
  for (const [channel, by] of known) {
    const word = said.get(channel);
    const isSuppression = channel === suppressed && said.size > 0;
    if (word === undefined ? !isSuppression : isRefusal(channel, word)) continue;
    restated.add(channel);
    if (word !== undefined) kept[channel] = by;
  }
  const asItIs = { write, kept: {}, channels: "" };
  if (restated.size === 0) return asItIs;
  const channels = [...restated].toSorted().join(" ");
  switch (write.operation) {
    case "v1.customers.upsert":
    case "v1.contactGroups.addContact":
      return { write: { ...write, contact: v1Refusing(write.contact, restated) } as Write, kept, channels };
    case "v2.contacts.upsert":
      if (!restated.has(suppressed))
        return { write: { ...write, contact: v2Refusing(write.contact, restated) } as Write, kept, channels };
      // v2 has no word for a suppression; nothing is lifted by a refusal.
      return saysOnlyRefusals(said) ? asItIs : { unsaid: [...restated] };
    default:
      return saysOnlyRefusals(said) ? asItIs : { unsaid: [...restated] };
  }
}

function v1Refusing(contact: Fields, restated: ReadonlySet<string>): Fields {
  const { double_opt_in, ...others } = contact;
  return {
    ...(restated.has("email") || double_opt_in === undefined ? others : contact),
    ...(restated.has("email") && { email_opt_in: "UNSUBSCRIBED" }),
    ...(restated.has("phone") && { phone_opt_in: "UNSUBSCRIBED" }),
    ...(restated.has(suppressed) && { is_suppressed: true }),
  };
}

function v2Refusing(contact: Fields, restated: ReadonlySet<string>): Fields {
  const { identifiers, triggerWelcomeEmail, ...others } = contact;
  const refusing = (identifiers as Fields[]).map((identifier) => {
    const channels = { ...(identifier["channels"] as Fields) };
    for (const channel of restated)
      if (channel in channels || identifier["type"] === channel)
        channels[channel] = { ...(channels[channel] as Fields | undefined), status: "unsubscribed" };
    return { ...identifier, channels };
  });
  const isAsked = triggerWelcomeEmail !== undefined && !restated.has("email");
  return { ...others, ...(isAsked && { triggerWelcomeEmail }), identifiers: refusing };
}
