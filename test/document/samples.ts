import type { V2Contact, V2Identifier } from "audience-sdk";

export const consent: V2Identifier["consent"] = {
  createdAt: "2026-01-31T09:30:00Z",
  ip: "192.0.2.1",
  source: "web form",
};

export function emailIdentifier(id: string, status = "subscribed"): V2Identifier {
  return { type: "email", id, channels: { email: { status } }, consent };
}

export function phoneIdentifier(id: string | number, status = "subscribed"): V2Identifier {
  return { type: "phone", id, channels: { phone: { status } }, consent };
}

/** A v2 contact that nobody knows yet. */
export function v2Contact(more: Partial<V2Contact> = {}): V2Contact {
  return { firstName: "Alan", listIds: [], identifiers: [emailIdentifier("alan@example.com")], ...more };
}

/** A text of so many characters, each of them two bytes or more. */
export function characters(count: number, character = "é"): string {
  return character.repeat(count);
}

/** A value of any kind, as one that was never typed: read from a file, or sent by a program in JavaScript. */
export function untyped(value: unknown): never {
  // Not true, on purpose: the test shows what happens to it.
  return value as never;
}

/** How a value is named in a title: long texts by their length. */
export function shown(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const count = [...value].length;
  return count > 24 ? `${count} × ${[...value][0]}` : JSON.stringify(value);
}
