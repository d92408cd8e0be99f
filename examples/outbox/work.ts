import { AudienceClient, RateLimiter } from "audience-sdk";
import { redisRateLimitStore } from "audience-sdk/redis";
// Sends the jobs of the outbox until it is stopped: npx tsx examples/outbox/work.ts
// The environment names the service (AUDIENCE_BASE_URL, AUDIENCE_API_KEY) and Redis (REDIS_URL).
import { Redis } from "ioredis";
import { sendJobs } from "./send-jobs.ts";

// BullMQ requires unlimited retries: its workers wait while Redis is unavailable.
const connection = new Redis(process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379", {
  maxRetriesPerRequest: null,
});
connection.on("error", (error) => console.error(`Redis: ${error.message}`));

// Without Redis there are no jobs to send, so "local" would gain nothing.
const store = redisRateLimitStore(connection, { onUnavailable: "reject" });
// A host kills a program after 10 seconds or more: by then a request in flight has ended, too.
const audience = new AudienceClient({ rateLimiter: new RateLimiter({ store }), timeoutMs: 7_000 });
const lockMs = Number(process.env["OUTBOX_LOCK_MS"] ?? 30_000);
const worker = sendJobs({ connection, audience, lockMs });
worker.on("completed", ({ id }) => console.log(`sent ${id}`));
worker.on("failed", (job, error) => console.error(`not sent ${job?.id}: ${error.message}`));
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
