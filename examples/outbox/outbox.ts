import type { V1Event } from "audience-sdk";
import { v1EventSchema } from "audience-sdk/schemas";
import { Queue } from "bullmq";
import type { Redis } from "ioredis";

/** An event that can be sent again: its id says what happened, and not when it was sent. */
export type OutboxEvent = V1Event & { uniqueIdentifier: string };

export const queueName = "audience-events";

/** Where events wait until a worker has sent them: they outlive the process that made them. */
export class Outbox {
  readonly #queue: Queue<OutboxEvent>;

  constructor(connection: Redis) {
    this.#queue = new Queue(queueName, {
      connection,
      defaultJobOptions: {
        // 1 s, 2 s, 4 s …: a service that is away for half a day loses nothing.
        attempts: 16,
        backoff: { type: "exponential", delay: 1_000 },
        // As long as a job is kept, the same event is not added again. After that the service knows it by its id.
        removeOnComplete: { age: 24 * 3_600 },
        // What cannot be sent stays, for a person to look at.
        removeOnFail: false,
      },
    });
  }

  /** Adds an event, once, however often it is called; rejects one that the service would not take. */
  async add(event: OutboxEvent): Promise<void> {
    await this.#queue.add("send", v1EventSchema.parse(event) as OutboxEvent, { jobId: jobId(event) });
  }

  /** How many events wait, are on their way, and could not be sent. */
  async count(): Promise<{ open: number; failed: number }> {
    const { failed = 0, ...open } = await this.#queue.getJobCounts("waiting", "active", "delayed", "failed");
    return { open: Object.values(open).reduce((sum, jobs) => sum + jobs, 0), failed };
  }

  close(): Promise<void> {
    return this.#queue.close();
  }
}

/** BullMQ refuses ids that are whole numbers or hold a colon. */
function jobId({ uniqueIdentifier }: OutboxEvent): string {
  return `event-${encodeURIComponent(uniqueIdentifier)}`;
}
