import { isAudienceError, type AudienceClient } from "audience-sdk";
import { UnrecoverableError, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { queueName, type OutboxEvent } from "./outbox.ts";

interface SendEventsOptions {
  readonly connection: Redis;
  readonly audience: AudienceClient;
  /** How long after a worker was killed its events go to another. The worker renews its hold while it lives. */
  readonly lockMs?: number;
}

/** Sends what is in the outbox. Any number of processes may do so. */
export function sendEvents({
  connection,
  audience,
  lockMs = 30_000,
}: SendEventsOptions): Worker<OutboxEvent> {
  const send = async ({ data }: { data: OutboxEvent }): Promise<void> => {
    try {
      await audience.v1.events.send(data, { priority: 9 });
    } catch (error) {
      throw isHopeless(error) ? new UnrecoverableError(String(error)) : error;
    }
  };
  return new Worker(queueName, send, {
    connection,
    // The rate limit holds them back, not this; enough to use a whole second's budget at once.
    concurrency: 10,
    lockDuration: lockMs,
    stalledInterval: lockMs,
    // A killed worker is no fault of the event, and an event may be sent again: its id makes two of it one.
    maxStalledCount: 1_000,
  });
}

/** What the service refuses for good: sending it again would end the same. */
function isHopeless(error: unknown): boolean {
  return isAudienceError(error) && ["validation", "bad_request", "not_found"].includes(error.code);
}
