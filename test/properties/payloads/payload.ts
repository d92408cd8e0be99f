import fc from "fast-check";
import type { Field } from "./field.ts";
import { customerBody, listContactBody } from "./v1-contact.ts";
import { eventBody } from "./v1-event.ts";
import { v2ContactBody } from "./v2-contact.ts";

/** The four writes, named as the calls of the client. */
export type Write =
  | "v1.customers.upsert"
  | "v1.contactGroups.addContact"
  | "v1.events.send"
  | "v2.contacts.upsert";

/** A request body, and its expected verdict: a valid one must be accepted, an invalid one refused. */
export interface Payload {
  readonly write: Write;
  readonly made: "valid" | "invalid" | "unclassified";
  readonly body: unknown;
}

const bodies: Readonly<Record<Write, Field>> = {
  "v1.customers.upsert": customerBody,
  "v1.contactGroups.addContact": listContactBody,
  "v1.events.send": eventBody,
  "v2.contacts.upsert": v2ContactBody,
};

export const writes = Object.keys(bodies) as Write[]; // Safe: these are the keys of the table above.

/** A body for each fixed value: the same in every run. */
export const fixedPayloads: readonly Payload[] = writes.flatMap((write) => [
  ...bodies[write].allowed.map((body): Payload => ({ write, made: "valid", body })),
  ...bodies[write].forbidden.map((body): Payload => ({ write, made: "invalid", body })),
]);

export const anyPayload: fc.Arbitrary<Payload> = fc.oneof(
  ...writes.flatMap((write) => [
    bodies[write].valid.map((body): Payload => ({ write, made: "valid", body })),
    bodies[write].invalid.map((body): Payload => ({ write, made: "invalid", body })),
    bodies[write].unclassified.map((body): Payload => ({ write, made: "unclassified", body })),
  ]),
);
