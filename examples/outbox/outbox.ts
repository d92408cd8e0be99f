import type { V1Event } from "audience-sdk";
import { v1EventSchema } from "audience-sdk/schemas";
import { Queue } from "bullmq";
import type { Redis } from "ioredis";

/** An event that can be sent again: its id identifies the event, not the attempt. */
export type OutboxEvent = V1Event & { uniqueIdentifier: string };

export const queueName = "audience-events";

/** A queue of events that outlives the process. */
export class Outbox {
  readonly #queue: Queue<OutboxEvent>;

  constructor(connection: Redis) {
    this.#queue = new Queue(queueName, {
      connection,
      defaultJobOptions: {
        // 1 s, 2 s, 4 s …: no event is lost if the service is unavailable for some hours.
        attempts: 16,
        backoff: { type: "exponential", delay: 1_000 },
        // While a job is kept, the same event is not added again. Later the service ignores it by its id.
        removeOnComplete: { age: 24 * 3_600 },
        // Failed events stay, for a person to look at.
        removeOnFail: false,
      },
    });
  }

  /** Adds an event once, however often it is called; rejects an invalid event. */
  async add(event: OutboxEvent): Promise<void> {
    await this.#queue.add("send", v1EventSchema.parse(event) as OutboxEvent, { jobId: jobId(event) });
  }

  /** The number of open and of failed events. */
  async count(): Promise<{ open: number; failed: number }> {
    const { failed = 0, ...open } = await this.#queue.getJobCounts("waiting", "active", "delayed", "failed");
    return { open: Object.values(open).reduce((sum, jobs) => sum + jobs, 0), failed };
  }

  close(): Promise<void> {
    return this.#queue.close();
  }
}

/** BullMQ refuses ids that are integers or hold a colon. */
function jobId({ uniqueIdentifier }: OutboxEvent): string {
  return `event-${encodeURIComponent(uniqueIdentifier)}`;
}
