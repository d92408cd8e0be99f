// One night: refusals at the service come home, then the table goes to the service. If it was killed, start it again.
import { join } from "node:path";
import { type AudienceClient, write } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { readSnapshot, type Snapshot } from "audience-sdk/snapshot";
import type { Table } from "./people.ts";

export async function night(audience: AudienceClient, people: Table, folder: string, signal?: AbortSignal) {
  using today = await readTonight(audience, join(folder, "audience.ndjson"), signal);
  for await (const { contact, readAt } of today.refusalsSince()) {
    const { email, email_opt_in, is_suppressed } = contact;
    if (email && (email_opt_in === "UNSUBSCRIBED" || is_suppressed)) await people.refuse(email, readAt);
  }
  for (const what of ["the table", "what the website has changed meanwhile"]) {
    const readAt = new Date();
    const run = audience.bulk(
      await people.all(),
      ({ email, city, email_opt_in }) => write.v1.customers.upsert({ email, city, email_opt_in }),
      {
        key: ({ email }) => email,
        fingerprint: (person) => person, // her word is sent again where she has said another one meanwhile
        checkpoint: fileCheckpoint(join(folder, "people.ckpt")),
        snapshot: today,
        isCurrent: async ({ email, consent_at }) => (await people.get(email))?.consent_at === consent_at,
        signal,
      },
    );
    for await (const { item, status, reason, kept, error } of run) {
      if (kept) await people.refuse(item.email, readAt); // she has left at the service, and stays so
      else if (error && reason !== "not-current") console.error(item.email, status, error);
    }
    console.log(what, JSON.stringify(await run));
  }
}

/** A read that was cut off goes on. Its first pages are older than tonight, so it is read once more. */
async function readTonight(audience: AudienceClient, file: string, signal?: AbortSignal): Promise<Snapshot> {
  const startedAt = new Date();
  for (;;) {
    const snapshot = await readSnapshot(audience, { file, signal });
    if (snapshot.readAt >= startedAt) return snapshot;
    snapshot.close();
  }
}
