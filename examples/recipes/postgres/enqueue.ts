import type { AddContactWrite, CustomerWrite, EventWrite } from "audience-sdk";
import type { ClientBase } from "pg";

/** What a person has just done: an opt-in or an opt-out. It names no address without the word that she has just given. */
export type Act = CustomerWrite | AddContactWrite;

/**
 * Adds acts of a person within the transaction of `db`. They stand in her row, and her one job says so: it sends what is there,
 * with her last word of each channel. While it is under way, the next act gives it a successor.
 */
export async function addActs(db: ClientBase, person: string, writes: readonly Act[]): Promise<void> {
  await db.query(
    `with waiting as (
       insert into audience_people as p (person, acts)
         select $1, jsonb_agg(jsonb_build_object('at', clock_timestamp(), 'write', write))
         from jsonb_array_elements($2) as write
       on conflict (person) do update set acts = p.acts || excluded.acts
       returning person, acts @? '$.write.contact
         ? (@.email_opt_in == "UNSUBSCRIBED" || @.phone_opt_in == "UNSUBSCRIBED" || @.is_suppressed == true)' as refuses
     )
     select graphile_worker.add_job(
       'audience_acts', json_build_object('person', person), job_key => 'audience:' || person,
       priority => case when refuses then -1 else 0 end,
       flags => case when refuses then '{}'::text[] else '{5}' end
     ) from waiting`,
    [person, JSON.stringify(writes)],
  );
}

/** Adds an event within the transaction of `db`, once for each `uniqueIdentifier`. */
export async function addEvent(db: ClientBase, write: EventWrite): Promise<void> {
  await db.query(
    "select graphile_worker.add_job('audience_event', $1::json, job_key => $2, priority => 1, flags => '{8}')",
    [JSON.stringify(write), `audience-event:${write.event.uniqueIdentifier}`],
  );
}
