import type { AddContactWrite, CustomerWrite, EventWrite, V2ContactWrite } from "audience-sdk";
import { v1ContactSchema, v1EventSchema, v1ListContactSchema, v2ContactSchema } from "audience-sdk/schemas";
import { Queue } from "bullmq";
import type { Redis } from "ioredis";

/** A write by which a person has opted in or out. */
export type Act = CustomerWrite | AddContactWrite | V2ContactWrite;

/** An event, or a person whose acts are to be sent. The acts stand in Redis until then, as newer ones replace them. */
export type OutboxJob = { event: EventWrite } | { person: string; failed?: readonly Act[] };

export const queueName = "audience-outbox";

/** The hash of the acts that are not sent yet, by person. */
export const actsKey = "audience-outbox-acts";

/** BullMQ takes jobs without a priority, which is 0, before all others, and then the lower number. */
const jobPriority = { refusal: 0, optIn: 1, event: 2 };

/** A queue of writes that outlives the process. */
export class Outbox {
  readonly #queue: Queue<OutboxJob>;
  readonly #connection: Redis;

  constructor(connection: Redis) {
    this.#connection = connection;
    this.#queue = new Queue(queueName, {
      connection,
      defaultJobOptions: {
        // 1 s, 2 s, 4 s …: nothing is lost if the service is unavailable for some hours.
        attempts: 16,
        backoff: { type: "exponential", delay: 1_000 },
        // While a job is kept, the same event is not added again. Later the service ignores it by its id.
        removeOnComplete: { age: 24 * 3_600 },
        // Failed jobs stay, for a person to look at.
        removeOnFail: false,
      },
    });
  }

  /** Adds an event once, however often it is called; rejects an invalid one, and one without an id. */
  async addEvent(write: EventWrite): Promise<void> {
    const { uniqueIdentifier } = v1EventSchema.parse(write.event);
    if (uniqueIdentifier === undefined)
      throw new Error("The event needs a uniqueIdentifier, as in order-1001.");
    // BullMQ refuses ids that are integers or hold a colon.
    await this.#queue.add(
      "event",
      { event: write },
      { jobId: `event-${encodeURIComponent(uniqueIdentifier)}`, priority: jobPriority.event },
    );
  }

  /**
   * Adds what a person has just decided, all its writes at once: it replaces what the person decided before, if that is
   * not sent yet. `person` is your own id of the person. Rejects an invalid write.
   */
  async addActs(person: string, writes: readonly Act[]): Promise<void> {
    for (const write of writes) check(write);
    await this.#connection.hset(actsKey, person, JSON.stringify(writes));
    // One job for each person, so one worker: a waiting job sends the newest acts, and one under way gets a successor.
    const deduplication = { id: `person-${person}`, replace: true, keepLastIfActive: true };
    const priority = writes.some(isRefusal) ? jobPriority.refusal : jobPriority.optIn;
    const job = await this.#queue.add("acts", { person }, { deduplication, priority });
    // One that waits already keeps the priority of what the person decided before.
    if (priority === jobPriority.refusal) await job.changePriority({ priority });
  }

  /** The number of open and of failed jobs. */
  async count(): Promise<{ open: number; failed: number }> {
    const { failed = 0, ...open } = await this.#queue.getJobCounts(
      "waiting",
      "prioritized",
      "active",
      "delayed",
      "failed",
    );
    return { open: Object.values(open).reduce((sum, jobs) => sum + jobs, 0), failed };
  }

  close(): Promise<void> {
    return this.#queue.close();
  }
}

const consentedContactSchema = v1ListContactSchema.required({ email_opt_in: true });

function check(write: Act): void {
  if (write.operation === "v2.contacts.upsert") v2ContactSchema.parse(write.contact);
  else if (write.operation === "v1.customers.upsert") v1ContactSchema.parse(write.contact);
  else consentedContactSchema.parse(write.contact);
}

/** By which a person leaves, on any channel. */
export function isRefusal({ contact }: Act): boolean {
  // Safe: the values of other channels may be anything, and are only asked for a status.
  const hasLeft = (channel: unknown) =>
    (channel as { status?: unknown } | undefined)?.status === "unsubscribed";
  if ("identifiers" in contact)
    return contact.identifiers.some(({ channels }) => Object.values(channels).some(hasLeft));
  const { email_opt_in, phone_opt_in, is_suppressed } = contact;
  return [email_opt_in, phone_opt_in].includes("UNSUBSCRIBED") || is_suppressed === true;
}
