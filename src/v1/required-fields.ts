import type { V1Contact } from "./schemas/contact.ts";
import type { V1Event } from "./schemas/event.ts";

/**
 * A v1 contact of which the compiler knows that it has an `email` or a `phone`, or may have: `Field` is what the value
 * has, given or not. Only a value that can have neither is refused, so a `V1Contact`, a row of a file or a spread fit.
 */
export type WithEmailOrPhone<Field extends keyof V1Contact> = Readonly<V1Contact> &
  Pick<V1Contact, Field> &
  ([Field & ("email" | "phone")] extends [never] ? { email: string } | { phone: string } : unknown);

/** A custom event of which the compiler knows that it names a contact, or may: only one that cannot is refused. */
export type WithContact<Field extends keyof V1Event> = Readonly<V1Event> &
  Pick<V1Event, Field> &
  ([Field & ("contact" | "contactUUID")] extends [never]
    ? { contact: { email: string } } | { contactUUID: string }
    : unknown);
