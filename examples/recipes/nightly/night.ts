// One night. If it was killed, start it again: it goes on.
import { join } from "node:path";
import { type AudienceClient, write } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { readSnapshot } from "audience-sdk/snapshot";
import type { Person, Table } from "./people.ts";

export async function night(audience: AudienceClient, people: Table, folder: string): Promise<void> {
  const startedAt = new Date();
  using today = await readSnapshot(audience, { file: join(folder, "audience.ndjson") });
  // A read that was cut off has gone on, and its first pages are older than tonight: once more.
  if (today.readAt < startedAt) return await night(audience, people, folder);
  // Who has left at the service comes home.
  for await (const { contact, readAt } of today.refusalsSince()) {
    const { email, email_opt_in, is_suppressed } = contact;
    if (email && (email_opt_in === "UNSUBSCRIBED" || is_suppressed)) await people.refuse(email, readAt);
  }
  // Who is new since then may have left again: tomorrow's snapshot shows her.
  const isKnown = ({ email, email_opt_in, consent_at }: Person) =>
    email_opt_in === "UNSUBSCRIBED" || new Date(consent_at) < today.readAt || today.find({ email });
  // Then the table goes to the service, and once more what the website has changed meanwhile.
  for (let pass = 1; pass <= 2; pass += 1) {
    const readAt = new Date();
    // At a day the snapshot is refused: an hour before, the next night takes the rest.
    if (pass === 2 && readAt.getTime() - today.readAt.getTime() > 23 * 3_600_000) break;
    const run = audience.bulk(
      (await people.all()).filter(isKnown),
      ({ email, city, email_opt_in }) => write.v1.customers.upsert({ email, city, email_opt_in }),
      {
        key: ({ email }) => email,
        // A word is sent again if another was said between. Raise the number when you change the write above.
        fingerprint: (person) => [1, person],
        checkpoint: fileCheckpoint(join(folder, "people.ckpt")),
        snapshot: today,
        isCurrent: async ({ email, consent_at }) => (await people.get(email))?.consent_at === consent_at,
      },
    );
    for await (const { item, status, reason, kept, error } of run) {
      if (kept) await people.refuse(item.email, readAt); // she has left, and was sent so
      else if (error && reason !== "not-current") console.error(item.email, status, error);
    }
    console.log(JSON.stringify(await run));
  }
}
