import { isAudienceError, RateLimitWaitError, type AudienceClient } from "audience-sdk";
import { DelayedError, UnrecoverableError, Worker, type Job } from "bullmq";
import type { Redis } from "ioredis";
import { actsKey, isRefusal, queueName, type Act, type OutboxJob } from "./outbox.ts";

const refusal = { priority: 0 };
// Who would wait longer for the rate limit leaves the worker to a refusal, and comes again.
const other = { priority: 9, maxWaitMs: 60_000 };

interface SendJobsOptions {
  readonly connection: Redis;
  readonly audience: AudienceClient;
  /** The time after which another worker takes over the jobs of a killed worker. A live worker renews its lock. */
  readonly lockMs?: number;
}

/** Sends the jobs of the outbox. Any number of processes may do so. */
export function sendJobs({ connection, audience, lockMs = 30_000 }: SendJobsOptions): Worker<OutboxJob> {
  const sendActs = async (job: Job<OutboxJob>, person: string): Promise<void> => {
    // Read at each attempt: an opt-in that is tried again must not follow a newer opt-out.
    const acts = await connection.hget(actsKey, person);
    if (acts === null) return;
    const writes = JSON.parse(acts) as Act[];
    const options = writes.some(isRefusal) ? refusal : other;
    try {
      for (const write of writes) await audience.send(write, options);
    } catch (error) {
      if (!isHopeless(error)) throw error;
      await job.updateData({ person, failed: writes });
      await connection.eval(deleteIfUnchanged, 1, actsKey, person, acts);
      throw error;
    }
    await connection.eval(deleteIfUnchanged, 1, actsKey, person, acts);
  };
  const send = async (job: Job<OutboxJob>, token?: string): Promise<void> => {
    try {
      if ("event" in job.data) await audience.send(job.data.event, other);
      else await sendActs(job, job.data.person);
    } catch (error) {
      if (error instanceof RateLimitWaitError) {
        await job.moveToDelayed(Date.now() + Math.min(error.waitMs, other.maxWaitMs), token);
        throw new DelayedError();
      }
      throw isHopeless(error) ? new UnrecoverableError(String(error)) : error;
    }
  };
  return new Worker(queueName, send, {
    connection,
    // The rate limit bounds the rate; this is enough to use a whole second's budget at once.
    concurrency: 10,
    lockDuration: lockMs,
    stalledInterval: lockMs,
    // A job may be sent again after a crash of its worker: an event is recorded once per id, and a consent stays as it is.
    maxStalledCount: 1_000,
  });
}

/** Newer acts stay for the job's successor. */
const deleteIfUnchanged = `
if redis.call("HGET", KEYS[1], ARGV[1]) == ARGV[2] then return redis.call("HDEL", KEYS[1], ARGV[1]) end
return 0`;

/** A permanent failure: a retry would fail in the same way. */
function isHopeless(error: unknown): boolean {
  return isAudienceError(error) && ["validation", "bad_request", "not_found"].includes(error.code);
}
