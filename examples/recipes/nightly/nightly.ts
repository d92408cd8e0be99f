// The job: sends the whole table each night. Unchanged rows cost no call.
import type { AudienceClient, Profile } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { connect } from "./connect.ts";
import type { People, Person } from "./people.ts";

const { audience, people, close } = await connect();
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());

/** Whether the table has changed under a row after it was sent: then the run is due again. */
async function sendAll(client: AudienceClient, table: People): Promise<boolean> {
  const rows = (await table.all()).filter(({ isHeld }) => !isHeld);
  const run = client.bulk(
    rows,
    ({ email, city, email_opt_in }, request) =>
      client.v1.customers.upsert({ email, city, email_opt_in }, request),
    {
      key: ({ email }) => email,
      checkpoint: fileCheckpoint(process.env["CHECKPOINT"] ?? "people.ckpt"),
      isCurrent: async ({ email, version }) => (await table.get(email))?.version === version,
      signal: stop.signal,
    },
  );
  let isOutOfDate = false;
  for await (const result of run) {
    if (result.status === "superseded") {
      if (result.reason === "service") await takeOver(table, result.item, result.service);
      if (result.reason === "not-current" && result.error?.outcome !== "not-sent") isOutOfDate = true;
    } else if (result.error) console.error(result.key, result.status, result.error);
  }
  console.log(JSON.stringify(await run));
  return isOutOfDate;
}

/** Writes what the service refused into the table, unless the website has changed it meanwhile. */
async function takeOver(table: People, { email, version }: Person, service?: Profile): Promise<void> {
  const consent = service?.attributes.email_opt_in;
  // Suppressed, gone, or found by an earlier run: somebody has to look.
  const isRefusal = consent === "UNSUBSCRIBED" || consent === "NON_SUBSCRIBED";
  await table.setConsent(email, isRefusal ? consent : "hold", version);
}

try {
  while (await sendAll(audience, people));
} finally {
  await close();
}
