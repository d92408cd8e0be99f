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

/** A request body, and what the service document makes of it; `undefined` where the generator does not know. */
export interface Payload {
  readonly write: Write;
  readonly made: "whole" | "with one thing wrong" | "with one odd thing";
  readonly body: unknown;
}

export const writes: Readonly<Record<Write, Field>> = {
  "v1.customers.upsert": customerBody,
  "v1.contactGroups.addContact": listContactBody,
  "v1.events.send": eventBody,
  "v2.contacts.upsert": v2ContactBody,
};

function payloadsOf(write: Write, { good, bad, odd }: Field): fc.Arbitrary<Payload>[] {
  return [
    good.map((body) => ({ write, made: "whole", body })),
    bad.map((body) => ({ write, made: "with one thing wrong", body })),
    odd.map((body) => ({ write, made: "with one odd thing", body })),
  ];
}

export const anyPayload: fc.Arbitrary<Payload> = fc.oneof(
  // True: these are the names of the table above.
  ...Object.entries(writes).flatMap(([write, field]) => payloadsOf(write as Write, field)),
);
