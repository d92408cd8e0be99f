// The job: sends the whole table each night. Unchanged rows cost no call.
import { write } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { readSnapshot, type Snapshot } from "audience-sdk/snapshot";
import { connect } from "./connect.ts";
import type { Person } from "./people.ts";

const { audience, people, close } = await connect();
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());

/** Whether the table has changed under its rows: then the run is due again, and sends what has. */
async function sendAll(snapshot: Snapshot): Promise<boolean> {
  const rows = (await people.all()).filter(({ isHeld }) => !isHeld);
  const run = audience.bulk(
    rows,
    ({ email, city, email_opt_in }) => write.v1.customers.upsert({ email, city, email_opt_in }),
    {
      key: ({ email }) => email,
      checkpoint: fileCheckpoint(process.env["CHECKPOINT"] ?? "people.ckpt"),
      snapshot,
      isCurrent: async ({ email, version }) => (await people.get(email))?.version === version,
      signal: stop.signal,
    },
  );
  for await (const { item, status, reason, kept, error } of run) {
    // The refusal was sent in place of the row's word.
    if (kept?.email) await takeOver(item, "UNSUBSCRIBED");
    // Suppressed, or gone: somebody has to look.
    else if (reason === "service" || reason === "snapshot") await takeOver(item, "hold");
    else if (error && reason !== "not-current") console.error(item.email, status, error);
  }
  console.log(JSON.stringify(await run));
  const versions = new Map(rows.map(({ email, version }) => [email, version]));
  const now = await people.all();
  return now.some(({ email, isHeld, version }) => !isHeld && versions.get(email) !== version);
}

/** Writes a refusal into the table, unless the website has changed it meanwhile: then the next night judges it afresh. */
async function takeOver({ email, version }: Person, consent: "UNSUBSCRIBED" | "hold"): Promise<void> {
  await people.setConsent(email, consent, version);
}

try {
  // The service as it is tonight, one call for 100 contacts: it judges rows that were never sent.
  const file = process.env["SNAPSHOT"] ?? "audience.ndjson";
  const snapshot = await readSnapshot(audience, { file, signal: stop.signal });
  while (await sendAll(snapshot));
  snapshot.close();
} catch (error) {
  // Stopped: the next night goes on.
  if (!stop.signal.aborted) throw error;
} finally {
  await close();
}
