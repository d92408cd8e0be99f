import type { V1Contact } from "./schemas/contact.ts";
import type { V1Event } from "./schemas/event.ts";

/**
 * A v1 contact that has, or may have, an `email` or a `phone`; `Field` are the keys of the value's type. The compiler
 * refuses only a value that can have neither, so it accepts a `V1Contact`, a row of a file, or a spread.
 */
export type WithEmailOrPhone<Field extends keyof V1Contact> = Readonly<V1Contact> &
  Pick<V1Contact, Field> &
  ([Field & ("email" | "phone")] extends [never] ? { email: string } | { phone: string } : unknown);

/** A custom event that names, or may name, a contact. The compiler refuses only an event that cannot. */
export type WithContact<Field extends keyof V1Event> = Readonly<V1Event> &
  Pick<V1Event, Field> &
  ([Field & ("contact" | "contactUUID")] extends [never]
    ? { contact: { email: string } } | { contactUUID: string }
    : unknown);
