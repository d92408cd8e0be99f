// How a refusal that is known takes the place of a write's own word. Pure, on writes that need not be valid.
import { type Consent, isRefusal, refusalOf, refusalsOf } from "../consent.ts";
import { consentWriteOf } from "../prepare-write.ts";
import type { Write } from "../write.ts";

export interface RowWrite {
  readonly write: Write;
  readonly contacts: readonly string[];
  readonly said: Consent;
}

export function rowWrite(write: Write): RowWrite {
  const { consent, contacts } = consentWriteOf(write);
  return { write, contacts, said: consent };
}

/** How the refusal of a channel is known. */
export type KnownBy = "run" | "process" | "service";

export type Known = ReadonlyMap<string, KnownBy>;

/** The channels of a row that were sent as a refusal, though the row said otherwise, and how each was known. */
export type Kept = { readonly [Channel in "email" | "phone" | "is_suppressed"]?: KnownBy | undefined } & {
  readonly [channelOfV2: string]: KnownBy | undefined;
};

export interface RestatedWrite {
  readonly write: Write;
  readonly said: Consent;
  readonly kept: Kept;
  /** What was restated, as one text. */
  readonly channels: string;
  /** The channels of which it cannot say the refusal: it must not be sent. */
  readonly unsaid: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

const suppressed = "is_suppressed";

/** Whether a refusal is all that is said: an address without a word beside it says nothing. */
function saysOnlyRefusals(said: Consent): boolean {
  const count = [...said.values()].filter((word) => word !== "").length;
  return count > 0 && count === refusalsOf(said).length;
}

/** Whether nothing but `isCurrent` may hold the row back. */
export function refusesOnly(writes: readonly RowWrite[]): boolean {
  const spoken = writes.filter(({ said }) => said.size > 0);
  return spoken.length > 0 && spoken.every(({ said }) => saysOnlyRefusals(said));
}

/** Whether somebody may become subscribed: v2 may know further words. */
export function subscribes(said: Consent): boolean {
  return [...said].some(
    ([channel, word]) =>
      channel !== suppressed && !isRefusal(channel, word) && word !== "" && word !== "NON_SUBSCRIBED",
  );
}

/**
 * The write with each known refusal in place of another word, or of none at an address that it names. A suppression is
 * restated in every write of a v1 contact, as the document gives an omitted one a default. What asks the person by mail goes
 * with the consent to e-mail, and with a suppression.
 */
export function withRefusals({ said, write }: RowWrite, known: Known): RestatedWrite {
  const restated = [...known.keys()].filter((channel) => {
    const word = said.get(channel);
    return word === undefined ? channel === suppressed && said.size > 0 : !isRefusal(channel, word);
  });
  const asItIs = { write, said, kept: {}, channels: "", unsaid: [] };
  if (restated.length === 0) return asItIs;
  const contact = contactRefusing(write, new Set(restated));
  // Nothing is lifted by a refusal.
  if (!contact) return saysOnlyRefusals(said) ? asItIs : { ...asItIs, unsaid: restated };
  const kept = restated.filter((channel) => said.has(channel));
  return {
    // Safe: a member for its like.
    write: { ...write, contact } as Write,
    said: new Map([...said, ...restated.map((channel) => [channel, refusalOf(channel)] as const)]),
    kept: Object.fromEntries(kept.map((channel) => [channel, known.get(channel)])),
    channels: restated.toSorted().join(" "),
    unsaid: [],
  };
}

/** Whether the write says something else where a refusal is known. */
export function lifts(write: RowWrite, known: Known): boolean {
  const { channels, unsaid } = withRefusals(write, known);
  return channels !== "" || unsaid.length > 0;
}

/** Undefined for a write that cannot say it: v2 has no word for a suppression. */
function contactRefusing(write: Write, restated: ReadonlySet<string>): Fields | undefined {
  if (!("contact" in write)) return undefined;
  if (write.operation !== "v2.contacts.upsert") return v1Refusing(write.contact, restated);
  return restated.has(suppressed) ? undefined : v2Refusing(write.contact, restated);
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

function v2Refusing(contact: Fields, restated: ReadonlySet<string>): Fields {
  const { triggerWelcomeEmail: _, ...others } = contact;
  const identifiers = (contact["identifiers"] as Fields[]).map((identifier) => {
    const channels = { ...(identifier["channels"] as Fields) };
    for (const channel of restated)
      if (channel in channels || identifier["type"] === channel)
        channels[channel] = { ...(channels[channel] as Fields | undefined), status: "unsubscribed" };
    return { ...identifier, channels };
  });
  return { ...(restated.has("email") ? others : contact), identifiers };
}
