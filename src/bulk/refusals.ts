// Refusals: one that is known takes the place of another word in a write. Pure, on writes that need not be valid.
import { type ConsentWrite, isRefusal } from "../consent.ts";
import { type RowWrite, rowWrite } from "../prepare-write.ts";
import type { Profile } from "../v1/profile.ts";
import type { Write } from "../write.ts";

/** How the refusal of a channel is known. */
export type KnownBy = "run" | "process" | "service";

/** The refusals that are known of a contact, by channel, and how; `service`: as a look has shown it. */
type Known = ReadonlyMap<string, { readonly by: KnownBy; readonly service?: Profile | undefined }>;
type KnownOf = (consent: ConsentWrite) => Known;

/** The channels of a row that were sent as a refusal, though the row said otherwise, and how each was known. */
export type Kept = { readonly [Channel in "email" | "phone" | "is_suppressed"]?: KnownBy | undefined } & {
  readonly [channelOfV2: string]: KnownBy | undefined;
};

export interface RestatedWrite {
  readonly write: Write;
  readonly consents: readonly ConsentWrite[];
  readonly kept: Kept;
  /** The channels whose refusal is restated, as one text; empty where none is. */
  readonly channels: string;
  /** The refusals that the write cannot say: it must not be sent. */
  readonly unsaid: Known;
}

type Fields = Readonly<Record<string, unknown>>;

const suppressed = "is_suppressed";

/** Whether refusals are all that a write says: an address without a word beside it says nothing. */
function saysOnlyRefusals(consents: readonly ConsentWrite[]): boolean {
  const words = wordsOf(consents).filter(([, word]) => word !== "");
  return words.length > 0 && words.every(([channel, word]) => isRefusal(channel, word));
}

/** Whether a row says nothing but refusals: then `isCurrent` alone may hold it back. */
export function refusesOnly(writes: readonly RowWrite[]): boolean {
  const stating = writes.filter(({ consents }) => consents.length > 0);
  return stating.length > 0 && stating.every(({ consents }) => saysOnlyRefusals(consents));
}

/** Whether a refusal is said of every address that is named. */
export function refusesEachAddress(consents: readonly ConsentWrite[]): boolean {
  return wordsOf(consents).every(([channel, word]) => isRefusal(channel, word));
}

/** Whether a write may subscribe somebody: v2 may know further words. */
export function subscribes(consents: readonly ConsentWrite[]): boolean {
  const words = wordsOf(consents).filter(([channel]) => channel !== suppressed);
  return words.some(([channel, word]) => !isRefusal(channel, word) && !["", "NON_SUBSCRIBED"].includes(word));
}

function wordsOf(consents: readonly ConsentWrite[]): (readonly [channel: string, word: string])[] {
  return consents.flatMap(({ consent }) => [...consent]);
}

/**
 * The write with each known refusal in place of another word, or of none at an address that it names. A suppression is
 * restated in every write of a v1 contact, as the document gives an omitted one a default. What asks the person by mail goes
 * with the consent to e-mail, and with a suppression.
 */
export function withRefusals({ consents, write }: RowWrite, knows: KnownOf): RestatedWrite {
  const known = consents.map((each) => [...knows(each)].filter(([channel]) => isRestated(channel, each)));
  const canSay = ([channel]: readonly [string, unknown]) => canRefuse(write, channel);
  // A write of refusals alone lifts none: it says those that it can.
  const unsaid = saysOnlyRefusals(consents) ? [] : known.flat().filter((refusal) => !canSay(refusal));
  const restated = known.map((refusals) => refusals.filter(canSay));
  const refused = restated.map((refusals) => refusals.map(([channel]) => channel).toSorted());
  if (unsaid.length > 0 || refused.flat().length === 0)
    return { write, consents, kept: {}, channels: "", unsaid: new Map(unsaid) };
  const kept = restated.flatMap((refusals, i) =>
    refusals.filter(([channel]) => consents[i]!.consent.has(channel)),
  );
  return {
    ...rowWrite(writeRefusing(write, refused)),
    kept: Object.fromEntries(kept.map(([channel, { by }]) => [channel, by])),
    channels: refused.join(),
    unsaid: new Map(),
  };
}

function isRestated(channel: string, { consent }: ConsentWrite): boolean {
  const word = consent.get(channel);
  return word === undefined ? channel === suppressed : !isRefusal(channel, word);
}

/** Whether a write can say a refusal: v2 has no word for a suppression, and a custom request none that is known. */
function canRefuse(write: Write, channel: string): boolean {
  return "contact" in write && (write.operation !== "v2.contacts.upsert" || channel !== suppressed);
}

/** The write of a contact with these channels refused, for each consent that it states. */
function writeRefusing(write: Write, channels: readonly (readonly string[])[]): Write {
  // Safe: no other write can say a refusal, and its contact is of the kind of the write's own.
  const { contact } = write as { contact: Fields };
  const isV2 = write.operation === "v2.contacts.upsert";
  const refusing = isV2 ? v2Refusing(contact, channels) : v1Refusing(contact, new Set(channels.flat()));
  return { ...write, contact: refusing } as Write;
}

function v1Refusing(contact: Fields, restated: ReadonlySet<string>): Fields {
  const { double_opt_in: _, ...others } = contact;
  const refusesMail = restated.has("email") || restated.has(suppressed);
  return {
    ...(refusesMail ? others : contact),
    ...(restated.has("email") && { email_opt_in: "UNSUBSCRIBED" }),
    ...(restated.has("phone") && { phone_opt_in: "UNSUBSCRIBED" }),
    ...(restated.has(suppressed) && { is_suppressed: true }),
  };
}

/** A v2 contact refuses identifier by identifier. */
function v2Refusing(contact: Fields, refused: readonly (readonly string[])[]): Fields {
  const { triggerWelcomeEmail: _, ...others } = contact;
  const identifiers = (contact["identifiers"] as Fields[]).map((identifier, at) => {
    const statuses = { ...(identifier["channels"] as Fields) };
    for (const channel of refused[at]!)
      statuses[channel] = { ...(statuses[channel] as Fields | undefined), status: "unsubscribed" };
    return { ...identifier, channels: statuses };
  });
  return { ...(refused.flat().includes("email") ? others : contact), identifiers };
}
