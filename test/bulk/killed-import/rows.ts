import { type Write, write } from "audience-sdk";

/** A row that is named in every request that is made for it. */
export interface ImportRow {
  readonly id: string;
  readonly kind: "upsert" | "double opt-in" | "event";
}

/** Every fifth is not repeatable; every fifth is an event without an id. */
export function* importRows(count: number): Generator<ImportRow> {
  for (let index = 0; index < count; index++) {
    yield {
      id: `row-${index}`,
      kind: index % 5 === 3 ? "double opt-in" : index % 5 === 4 ? "event" : "upsert",
    };
  }
}

export function importRow({ id, kind }: ImportRow): Write {
  const email = `${id}@example.com`;
  if (kind === "event") return write.v1.events.send({ eventName: "imported", contact: { email } });
  const doubleOptIn = kind === "double opt-in" && { double_opt_in: true };
  return write.v1.customers.upsert({ email, email_opt_in: "SUBSCRIBED", ...doubleOptIn });
}

/** The row that a request was made for. */
export function rowOf(body: unknown): string {
  // Safe: importRow sends this body.
  const { email, contact } = body as { email?: string; contact?: { email: string } };
  return String(email ?? contact?.email).replace("@example.com", "");
}
