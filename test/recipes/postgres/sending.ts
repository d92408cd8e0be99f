import { write } from "audience-sdk";
// A sender, which sends changed profiles by `bulk` beside its jobs.
import { readSnapshot } from "audience-sdk/snapshot";
import { Pool } from "pg";
import { startSender } from "./sender.ts";

interface Row {
  readonly person: string;
  readonly email: string;
  readonly city: string;
  readonly email_opt_in: "SUBSCRIBED" | "UNSUBSCRIBED" | null;
}

const databaseUrl = process.env["DATABASE_URL"] ?? "";
const file = `snapshot-${process.pid}.ndjson`;
const { audience, stop } = await startSender(databaseUrl, { headers: { "x-sender": `${process.pid}` } }, 50);
process.once("SIGTERM", () => void stop().then(() => process.exit()));
process.send?.("sends");

const db = new Pool({ connectionString: databaseUrl });
/** What the table says of people who are at the service, and of whom no act waits. */
const current = `
  select person, email, city, email_opt_in from people
  where not exists (select from audience_people p where p.person = people.person and acts <> '[]')`;
async function sendProfiles(): Promise<unknown> {
  using snapshot = await readSnapshot(audience, { file });
  const { rows } = await db.query<Row>(current);
  const known = rows.filter(({ email }) => snapshot.find({ email }) !== undefined);
  return await audience.bulk(
    known,
    ({ email, city, email_opt_in }) =>
      write.v1.customers.upsert({ email, city, ...(email_opt_in && { email_opt_in }) }),
    {
      snapshot,
      key: ({ person }) => person,
      async isCurrent({ person, email_opt_in }) {
        const { rows: now } = await db.query<Row>(`${current} and person = $1`, [person]);
        return now[0]?.email_opt_in === email_opt_in;
      },
    },
  );
}
process.on("message", () => {
  void sendProfiles().then(
    (summary) => process.send?.({ summary }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
