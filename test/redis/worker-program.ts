// One process of a fleet: a client of its own, with the shared limiter. Started by `machine-room.ts`, with its task as JSON.
import { setTimeout as sleep } from "node:timers/promises";
import { AudienceClient, isAudienceError, RateLimiter } from "audience-sdk";
import { redisRateLimitStore } from "audience-sdk/redis";
import { clientKinds, type OpenClient } from "./clients.ts";
import type { Task, WorkerMessage } from "./machine-room.ts";

const task = JSON.parse(process.env["FLEET_TASK"] ?? "") as Task; // written by `machine-room.ts`

/** Resolves once the message is sent. */
function report(message: WorkerMessage): Promise<void> {
  return new Promise((resolve) => void process.send?.(message, () => resolve()));
}

/** A Redis client of the kind that the task names. */
function connect(): OpenClient {
  const kind = clientKinds.find(({ name }) => name === task.client);
  if (!kind) throw new Error(`there is no client ${task.client}`);
  return kind.open({ port: Number(new URL(task.redisUrl).port) });
}

async function main(): Promise<void> {
  const redis = connect();
  const store = redisRateLimitStore(redis.client, task.store);
  const rateLimiter = new RateLimiter({ windows: task.windows, store });
  const audience = new AudienceClient({ ...task.service, rateLimiter, maxRetries: 0 });
  // Connecting takes time. A late first response would count as an unavailable Redis.
  await redis.ready();
  await report("ready");
  await new Promise((resolve) => process.once("message", resolve));
  const stop = new AbortController();
  process.once("message", () => stop.abort());
  const call = async (): Promise<void> => {
    const ended = await audience.v1.contactGroups.get("mock-list").then(
      () => "responded",
      (error: unknown) => (isAudienceError(error) ? error.code : String(error)),
    );
    await report({ ended });
  };
  const calls = Array.from({ length: task.calls }, async (_, index) => {
    const isStopped = await sleep(index * task.everyMs, false, stop).catch(() => true);
    if (!isStopped) await call();
  });
  await Promise.all(calls);
  process.exit();
}

void main();
