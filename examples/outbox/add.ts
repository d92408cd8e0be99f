// Adds jobs, one JSON object a line, from standard input: npx tsx examples/outbox/add.ts < jobs.jsonl
// A line is the write of an event, or { person, writes }.
import { createInterface } from "node:readline";
import type { EventWrite } from "audience-sdk";
import { Redis } from "ioredis";
import { Outbox, type Act } from "./outbox.ts";

const connection = new Redis(process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379");
const outbox = new Outbox(connection);
for await (const line of createInterface({ input: process.stdin })) {
  // The outbox checks it.
  const job = JSON.parse(line) as EventWrite | { person: string; writes: Act[] };
  await ("person" in job ? outbox.addActs(job.person, job.writes) : outbox.addEvent(job));
}
await outbox.close();
await connection.quit();
