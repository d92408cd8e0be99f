import {
  type AudienceClient,
  type EventWrite,
  isAudienceError,
  NotFoundError,
  type Profile,
  type V1Contact,
} from "audience-sdk";
import type { Job, JobHelpers, TaskList } from "graphile-worker";
import type { Act } from "./enqueue.ts";

/** An act that is not sent yet, and when the person did it. */
interface Waiting {
  readonly at: string;
  readonly write: Act;
}

const channels = ["email_opt_in", "phone_opt_in", "is_suppressed"] as const;
type Words = Pick<V1Contact, (typeof channels)[number]>;

// Retries are the queue's, each after another look. Nothing but a refusal waits long for a permit: the next job may be one.
const refusal = { priority: 0, maxRetries: 0 };
const act = { priority: 5, maxRetries: 0, maxWaitMs: 2_000 };
const event = { ...act, priority: 8 }; // before the rows of `bulk`

/** The jobs of `addActs` and `addEvent`, for one worker with `concurrency: 1`. */
export function tasks(audience: AudienceClient): TaskList {
  return {
    audience_acts: (payload, helpers) => sendActs(audience, (payload as { person: string }).person, helpers),
    audience_event: (payload, helpers) => sendEvent(audience, payload as EventWrite, helpers),
  };
}

/** Sends act after act, each with the last words of all. */
async function sendActs(audience: AudienceClient, person: string, { query, job }: JobHelpers): Promise<void> {
  for (;;) {
    const { rows } = await query<{ contact_id: string | null; acts: Waiting[] }>(
      "select contact_id, acts from audience_people where person = $1",
      [person],
    );
    let { contact_id: id, acts } = rows[0]!; // `addActs` has made it
    const [oldest, ...newer] = acts;
    if (!oldest) return;
    const said = lastWords(acts);
    const isRepeated = newer.some(({ write }) =>
      isSame(withWords(write, said), withWords(oldest.write, said)),
    );
    const options = Object.values(said).some(isRefusal) ? refusal : act;
    let reason: string | undefined;
    try {
      if (!isRepeated) {
        const isOptIn = !Object.values(said).every(isRefusal);
        const shown = isOptIn && id !== null ? await look(audience, id, options) : undefined;
        const words = lastWords(acts, shown);
        const value = await audience.send(withWords(oldest.write, words), options);
        id = "contact" in value ? value.contact.contactUUID : value.id;
        if (channels.some((channel) => said[channel] !== undefined && said[channel] !== words[channel]))
          reason = "refused at the service since";
      }
    } catch (error) {
      if (!isForGood(error, job)) throw error;
      reason = String(error);
    }
    await query(
      `with sent as (update audience_people set contact_id = $2, acts = acts - 0 where person = $1)
       insert into audience_unsent (write, reason) select $3, $4 where $4::text is not null`,
      [person, id, JSON.stringify(oldest.write), reason],
    );
  }
}

async function sendEvent(
  audience: AudienceClient,
  write: EventWrite,
  { query, job }: JobHelpers,
): Promise<void> {
  try {
    await audience.send(write, event);
  } catch (error) {
    if (!isForGood(error, job)) throw error;
    await query("insert into audience_unsent (write, reason) values ($1, $2)", [
      JSON.stringify(write),
      String(error),
    ]);
  }
}

/** What the service shows of a person; undefined for a contact that is gone: her act makes a new one. */
async function look(audience: AudienceClient, id: string, options: typeof refusal) {
  try {
    return (await audience.v1.customers.get(id, options)).attributes;
  } catch (error) {
    if (error instanceof NotFoundError && typeof error.body === "object") return undefined; // a gateway answers with text
    throw error;
  }
}

/** The last word of each channel: the person's in these acts, or a refusal that the service shows, unless it is older. */
function lastWords(acts: readonly Waiting[], shown?: Profile["attributes"]): Words {
  const words = channels.flatMap((channel) => {
    const last = acts.filter(({ write }) => write.contact[channel] !== undefined).at(-1);
    const isOlder = last && Date.parse(last.at) > Date.parse(shown?.updated ?? "");
    const word = isRefusal(shown?.[channel]) && !isOlder ? shown?.[channel] : last?.write.contact[channel];
    return word === undefined ? [] : [[channel, word] as const];
  });
  return Object.fromEntries(words);
}

function isRefusal(word: unknown): boolean {
  return word === "UNSUBSCRIBED" || word === true;
}

function isSame(one: Act, other: Act): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function withWords(write: Act, words: Words): Act {
  const contact = { ...write.contact, ...words };
  if (words.email_opt_in === "UNSUBSCRIBED" || words.is_suppressed) delete contact.double_opt_in;
  return { ...write, contact } as Act; // with an e-mail consent where there was one
}

/** The same write would fail in the same way, or has failed for days. */
function isForGood(error: unknown, { attempts, max_attempts: most }: Job): boolean {
  const isRefused = isAudienceError(error) && ["validation", "bad_request", "not_found"].includes(error.code);
  return isRefused || attempts >= most;
}
