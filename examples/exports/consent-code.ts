import { type Channel, optIns, type OptIn, stricter } from "./contact.ts";
import type { RowSaid, Said } from "./row-consent.ts";

// A person's consent is encoded in a small number, because a file may have hundreds of thousands of persons.
const shift: Readonly<Record<Channel, number>> = { email: 0, phone: 3 };
const suppressed = 1 << 6;
const notUnderstood = 4;
/** The bits of the phone consent. */
export const ofPhone = 7 << shift.phone;
export const anyRefusal = (7 << shift.email) | ofPhone | suppressed;

/** Two bits for the state, 0 for none, and one bit for unknown words. */
export function codeOf(channel: Channel, { optIn, notUnderstood: words }: Said): number {
  const state = optIn === undefined ? 0 : optIns.indexOf(optIn) + 1;
  return (state | (words.length > 0 ? notUnderstood : 0)) << shift[channel];
}

/** The code of what a row says. */
export function codeOfRow({ email, phone, isSuppressed }: RowSaid): number {
  return codeOf("email", email) | codeOf("phone", phone) | (isSuppressed ? suppressed : 0);
}

/** The code of what a row says, without its opt-ins. */
export function refusalCode(said: RowSaid): number {
  return withoutOptIns(codeOfRow(said));
}

export function withoutOptIns(code: number): number {
  const subscribed = optIns.indexOf("SUBSCRIBED") + 1;
  return (["email", "phone"] as const).reduce(
    (rest, channel) => (((rest >> shift[channel]) & 3) === subscribed ? rest & ~(3 << shift[channel]) : rest),
    code,
  );
}

export function isSuppressedIn(code: number): boolean {
  return (code & suppressed) !== 0;
}

/** Joins a code with that of the key; the strictest counts. */
export function join(codes: Map<string, number>, key: string, code: number): void {
  codes.set(key, joined(codes.get(key) ?? 0, code));
}

export function joined(one: number, other: number): number {
  const strictest = (channel: Channel) =>
    Math.max((one >> shift[channel]) & 3, (other >> shift[channel]) & 3) << shift[channel];
  const marks = (one | other) & ~((3 << shift.email) | (3 << shift.phone));
  return marks | strictest("email") | strictest("phone");
}

/** What is said of the channel, with the code. */
export function withCode(said: Said, channel: Channel, code: number): Said {
  const bits = code >> shift[channel];
  const optIn: OptIn | undefined = stricter(said.optIn, optIns[(bits & 3) - 1]);
  const isClear = (bits & notUnderstood) === 0 || said.notUnderstood.length > 0;
  return { ...said, optIn, notUnderstood: isClear ? said.notUnderstood : ["a word in another row"] };
}
