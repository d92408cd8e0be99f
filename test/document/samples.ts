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

/** A new v2 contact. */
export function v2Contact(more: Partial<V2Contact> = {}): V2Contact {
  return { firstName: "Alan", listIds: [], identifiers: [emailIdentifier("alan@example.com")], ...more };
}

/** A string of `count` characters, each of two or more bytes. */
export function characters(count: number, character = "é"): string {
  return character.repeat(count);
}

/** An untyped value, for example from a file or from a program in JavaScript. */
export function untyped(value: unknown): never {
  // Safe: the test passes a value of a wrong type on purpose.
  return value as never;
}

/** The value as a title shows it: long strings by their length. */
export function shown(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const count = [...value].length;
  return count > 24 ? `${count} × ${[...value][0]}` : JSON.stringify(value);
}
