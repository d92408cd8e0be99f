// Sends the writes of a BullMQ queue. Add them with `attempts` and `backoff`: BullMQ's default is one try.
import { AudienceClient, isAudienceError, RateLimiter, type Write } from "audience-sdk";
import { redisRateLimitStore } from "audience-sdk/redis";
import { UnrecoverableError, WaitingError, Worker, type Job } from "bullmq";
import { Redis } from "ioredis";

// BullMQ requires unlimited retries: its workers wait while Redis is unavailable.
const connection = new Redis(process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379", {
  maxRetriesPerRequest: null,
});
connection.on("error", (error) => console.error(`Redis: ${error.message}`));

// All workers share one budget. BullMQ's own `limiter` stays off: it counts jobs, and not calls.
const store = redisRateLimitStore(connection, { onUnavailable: "reject" });
// A host kills a program after 10 seconds or more: by then a request in flight has ended, too.
const audience = new AudienceClient({ rateLimiter: new RateLimiter({ store }), timeoutMs: 7_000 });

async function send(job: Job<Write>, token?: string): Promise<void> {
  try {
    await audience.send(job.data, { priority: 9 });
  } catch (error) {
    if (!isAudienceError(error)) throw error;
    if (error.code === "closed" && error.outcome !== "unknown") {
      // Stopped before it was sent: back into the queue, and this was no attempt.
      await job.moveToWait(token);
      throw new WaitingError();
    }
    const isHopeless = error.code === "validation" || error.code === "bad_request";
    throw isHopeless ? new UnrecoverableError(error.message) : error;
  }
}

const worker = new Worker("writes", send, { connection, concurrency: 10 });
worker.on("completed", ({ id }) => console.log(`done ${id}`));
worker.on("failed", (job, error) => console.error(`failed ${job?.id}: ${error.message}`));
worker.on("error", (error) => console.error(error.message));

async function stop(): Promise<void> {
  const stopped = worker.close(); // takes no new job, and waits for those that it has
  // They may wait for the rate limit, up to an hour: closing the client ends their wait, and lets what is in flight end.
  await audience.close();
  await stopped;
  await connection.quit();
}
process.once("SIGTERM", () => void stop());
process.once("SIGINT", () => void stop());
