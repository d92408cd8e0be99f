import { type Channel, optIns, type OptIn, stricter } from "./contact.ts";
import type { RowSaid, Said } from "./row-consent.ts";

// A person's consent is encoded in a small number, because a file may have hundreds of thousands of persons.
const shift: Readonly<Record<Channel, number>> = { email: 0, phone: 3 };
const suppressed = 1 << 6;
const notUnderstood = 4;
const floorShift: Readonly<Record<Channel, number>> = { email: 7, phone: 9 };
/** The bits of the phone consent. */
export const ofPhone = (7 << shift.phone) | (3 << floorShift.phone);
export const anyRefusal = (7 << shift.email) | (7 << shift.phone) | suppressed;

const stateCode = (optIn: OptIn | undefined) => (optIn === undefined ? 0 : optIns.indexOf(optIn) + 1);

/** Two bits for the state, 0 for none, one bit for unknown words, and two bits for a plain refusal. */
export function codeOf(channel: Channel, { optIn, notUnderstood: words, refusal }: Said): number {
  const own = stateCode(optIn) | (words.length > 0 ? notUnderstood : 0);
  return (own << shift[channel]) | (stateCode(refusal) << floorShift[channel]);
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
  const subscribed = stateCode("SUBSCRIBED");
  return (["email", "phone"] as const).reduce(
    (rest, channel) => (((rest >> shift[channel]) & 3) === subscribed ? rest & ~(3 << shift[channel]) : rest),
    code,
  );
}

/** The refusals of a code: no opt-ins, and no unknown words, which a map may name. */
export function refusalsOfCode(code: number): number {
  return withoutOptIns(code) & ~((notUnderstood << shift.email) | (notUnderstood << shift.phone));
}

export function isSuppressedIn(code: number): boolean {
  return (code & suppressed) !== 0;
}

/** Joins a code with that of the key; the strictest counts. */
export function join(codes: Map<string, number>, key: string, code: number): void {
  codes.set(key, joined(codes.get(key) ?? 0, code));
}

const states = [shift.email, shift.phone, floorShift.email, floorShift.phone];
const ofStates = states.reduce((bits, at) => bits | (3 << at), 0);

export function joined(one: number, other: number): number {
  let code = (one | other) & ~ofStates;
  for (const at of states) code |= Math.max((one >> at) & 3, (other >> at) & 3) << at;
  return code;
}

/** What is said of the channel, with the code. */
export function withCode(said: Said, channel: Channel, code: number): Said {
  const bits = code >> shift[channel];
  const optIn: OptIn | undefined = stricter(said.optIn, optIns[(bits & 3) - 1]);
  const refusal = stricter(said.refusal, optIns[((code >> floorShift[channel]) & 3) - 1]);
  const isClear = (bits & notUnderstood) === 0 || said.notUnderstood.length > 0;
  return {
    ...said,
    optIn,
    refusal,
    notUnderstood: isClear ? said.notUnderstood : ["a word in another row"],
  };
}
