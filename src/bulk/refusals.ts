// How a refusal that is known takes the place of a write's own word. Pure, on writes that need not be valid.
import { type ConsentWrite, isRefusal } from "../consent.ts";
import { contactsAndConsentsOf } from "../prepare-write.ts";
import type { Profile } from "../v1/schemas/profile.ts";
import type { Write } from "../write.ts";

export interface RowWrite {
  readonly write: Write;
  readonly contacts: readonly string[];
  /** Empty for a write without consent, such as an event. */
  readonly said: readonly ConsentWrite[];
}

export function rowWrite(write: Write): RowWrite {
  return { write, ...contactsAndConsentsOf(write) };
}

/** How the refusal of a channel is known. */
export type KnownBy = "run" | "process" | "service";

/** The refusals that are known of a contact, by channel, and how; `service`: as a look has shown it. */
type Known = ReadonlyMap<string, { readonly by: KnownBy; readonly service?: Profile | undefined }>;

/** The channels of a row that were sent as a refusal, though the row said otherwise, and how each was known. */
export type Kept = { readonly [Channel in "email" | "phone" | "is_suppressed"]?: KnownBy | undefined } & {
  readonly [channelOfV2: string]: KnownBy | undefined;
};

export interface RestatedWrite {
  readonly write: Write;
  readonly said: readonly ConsentWrite[];
  readonly kept: Kept;
  /** What is restated, as one text; empty where nothing is. */
  readonly channels: string;
  /** The refusals that it cannot say: it must not be sent. */
  readonly unsaid: Known;
}

type Fields = Readonly<Record<string, unknown>>;

const suppressed = "is_suppressed";

/** Whether a refusal is all that is said: an address without a word beside it says nothing. */
function saysOnlyRefusals(said: readonly ConsentWrite[]): boolean {
  const words = wordsOf(said).filter(([, word]) => word !== "");
  return words.length > 0 && words.every(([channel, word]) => isRefusal(channel, word));
}

/** Whether nothing but `isCurrent` may hold the row back. */
export function refusesOnly(writes: readonly RowWrite[]): boolean {
  const spoken = writes.filter(({ said }) => said.length > 0);
  return spoken.length > 0 && spoken.every(({ said }) => saysOnlyRefusals(said));
}

/** Whether somebody may become subscribed: v2 may know further words. */
export function subscribes(said: readonly ConsentWrite[]): boolean {
  const words = wordsOf(said).filter(([channel]) => channel !== suppressed);
  return words.some(([channel, word]) => !isRefusal(channel, word) && !["", "NON_SUBSCRIBED"].includes(word));
}

function wordsOf(said: readonly ConsentWrite[]): (readonly [channel: string, word: string])[] {
  return said.flatMap(({ consent }) => [...consent]);
}

/**
 * The write with each known refusal in place of another word, or of none at an address that it names. A suppression is
 * restated in every write of a v1 contact, as the document gives an omitted one a default. What asks the person by mail goes
 * with the consent to e-mail, and with a suppression.
 */
export function withRefusals({ said, write }: RowWrite, knows: (said: ConsentWrite) => Known): RestatedWrite {
  const restated = said.map((each) => [...knows(each)].filter(([channel]) => isRestated(channel, each)));
  const refused = restated.map((known) => known.map(([channel]) => channel).toSorted());
  const channels = refused.join();
  const asItIs = { write, said, kept: {}, channels: "", unsaid: new Map() };
  if (refused.flat().length === 0) return asItIs;
  const contact = contactRefusing(write, refused);
  // Nothing is lifted by a refusal.
  if (!contact && saysOnlyRefusals(said)) return asItIs;
  if (!contact) return { ...asItIs, channels, unsaid: new Map(restated.flat()) };
  const kept = restated.flatMap((known, at) => known.filter(([channel]) => said[at]!.consent.has(channel)));
  return {
    // Safe: a member for its like.
    ...rowWrite({ ...write, contact } as Write),
    kept: Object.fromEntries(kept.map(([channel, { by }]) => [channel, by])),
    channels,
    unsaid: new Map(),
  };
}

function isRestated(channel: string, { consent }: ConsentWrite): boolean {
  const word = consent.get(channel);
  return word === undefined ? channel === suppressed : !isRefusal(channel, word);
}

/** The channels of each thing that is said. Undefined for a write that cannot say it: v2 has no word for a suppression. */
function contactRefusing(write: Write, channels: readonly (readonly string[])[]): Fields | undefined {
  if (!("contact" in write)) return undefined;
  if (write.operation !== "v2.contacts.upsert") return v1Refusing(write.contact, new Set(channels.flat()));
  return channels.flat().includes(suppressed) ? undefined : v2Refusing(write.contact, channels);
}

function v1Refusing(contact: Fields, restated: ReadonlySet<string>): Fields {
  const { double_opt_in: _, ...others } = contact;
  const getsNoMail = restated.has("email") || restated.has(suppressed);
  return {
    ...(getsNoMail ? others : contact),
    ...(restated.has("email") && { email_opt_in: "UNSUBSCRIBED" }),
    ...(restated.has("phone") && { phone_opt_in: "UNSUBSCRIBED" }),
    ...(restated.has(suppressed) && { is_suppressed: true }),
  };
}

/** What is said is said identifier by identifier. */
function v2Refusing(contact: Fields, refused: readonly (readonly string[])[]): Fields {
  const { triggerWelcomeEmail: _, ...others } = contact;
  const identifiers = (contact["identifiers"] as Fields[]).map((identifier, at) => {
    const channels = { ...(identifier["channels"] as Fields) };
    for (const channel of refused[at]!)
      channels[channel] = { ...(channels[channel] as Fields | undefined), status: "unsubscribed" };
    return { ...identifier, channels };
  });
  return { ...(refused.flat().includes("email") ? others : contact), identifiers };
}
