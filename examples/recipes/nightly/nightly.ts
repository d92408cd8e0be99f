// The job: sends the whole table each night. Unchanged rows cost no call.
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { readSnapshot, type Snapshot } from "audience-sdk/snapshot";
import { connect } from "./connect.ts";
import type { Person } from "./people.ts";

const { audience, people, close } = await connect();
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());

/** Whether the table has changed under a row after it was sent: then the run is due again. */
async function sendAll(snapshot: Snapshot): Promise<boolean> {
  const rows = (await people.all()).filter(({ isHeld }) => !isHeld);
  const run = audience.bulk(
    rows,
    ({ email, city, email_opt_in }, request) =>
      audience.v1.customers.upsert({ email, city, email_opt_in }, request),
    {
      key: ({ email }) => email,
      checkpoint: fileCheckpoint(process.env["CHECKPOINT"] ?? "people.ckpt"),
      snapshot,
      isCurrent: async ({ email, version }) => (await people.get(email))?.version === version,
      signal: stop.signal,
    },
  );
  let isOutOfDate = false;
  for await (const result of run) {
    if (result.status === "superseded") {
      const { item, reason, service, error } = result;
      if (reason === "service" || reason === "snapshot")
        await takeOver(item, (service?.attributes ?? snapshot.find({ email: item.email }))?.email_opt_in);
      if (reason === "not-current" && error?.outcome !== "not-sent") isOutOfDate = true;
    } else if (result.error) console.error(result.key, result.status, result.error);
  }
  console.log(JSON.stringify(await run));
  return isOutOfDate;
}

/** Writes what the service refused into the table, unless the website has changed it meanwhile. */
async function takeOver({ email, version }: Person, consent: string | null | undefined): Promise<void> {
  // Else suppressed, or gone: somebody has to look.
  const isRefusal = consent === "UNSUBSCRIBED" || consent === "NON_SUBSCRIBED";
  await people.setConsent(email, isRefusal ? consent : "hold", version);
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
