import { isAudienceError, type AudienceClient } from "audience-sdk";
import { UnrecoverableError, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { queueName, type OutboxEvent } from "./outbox.ts";

interface SendEventsOptions {
  readonly connection: Redis;
  readonly audience: AudienceClient;
  /** The time after which another worker takes over the events of a killed worker. A live worker renews its lock. */
  readonly lockMs?: number;
}

/** Sends the events of the outbox. Any number of processes may do so. */
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
    // The rate limit bounds the rate; this is enough to use a whole second's budget at once.
    concurrency: 10,
    lockDuration: lockMs,
    stalledInterval: lockMs,
    // An event may be sent again after a crash of its worker: the service records one event per id.
    maxStalledCount: 1_000,
  });
}

/** A permanent failure: a retry would fail in the same way. */
function isHopeless(error: unknown): boolean {
  return isAudienceError(error) && ["validation", "bad_request", "not_found"].includes(error.code);
}
