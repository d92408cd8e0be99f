// One of the processes that change the user's own tables and add to the queue, each change in a transaction of its own.
import { write } from "audience-sdk";
import { Client } from "pg";
import { addActs, addEvent } from "./enqueue.ts";

/** A change of a person: words of channels, and an event or none. */
interface Change {
  readonly number: number;
  readonly person: string;
  readonly contact: { email: string; first_name: string; phone?: string } & Words;
  readonly isForList: boolean;
  readonly eventId?: string;
  readonly isRolledBack: boolean;
}

interface Words {
  is_suppressed?: boolean;
  email_opt_in?: "SUBSCRIBED" | "UNSUBSCRIBED";
  phone_opt_in?: "SUBSCRIBED" | "UNSUBSCRIBED";
}

const db = new Client(process.env["DATABASE_URL"]);
await db.connect();

async function change({ person, contact, isForList, eventId, isRolledBack }: Change): Promise<void> {
  await db.query("begin");
  const { email, email_opt_in, phone_opt_in } = contact;
  await db.query(
    `update people set email_opt_in = coalesce($2, email_opt_in), phone_opt_in = coalesce($3, phone_opt_in)
     where person = $1`,
    [person, email_opt_in, phone_opt_in],
  );
  const act =
    isForList && email_opt_in
      ? write.v1.contactGroups.addContact("mock-list", { ...contact, email_opt_in })
      : write.v1.customers.upsert(contact);
  await addActs(db, person, [act]);
  if (eventId !== undefined) {
    await addEvent(
      db,
      write.v1.events.send({ eventName: "changed", contact: { email }, uniqueIdentifier: eventId }),
    );
  }
  await db.query(isRolledBack ? "rollback" : "commit");
}

// One transaction at a time, as they share a connection.
let last: Promise<unknown> = Promise.resolve();
process.on("message", (message: Change) => {
  last = last.then(async () => {
    await change(message);
    process.send?.(message.number);
  });
});
process.send?.("ready");
