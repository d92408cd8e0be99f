// Adds events, one JSON object a line, from standard input: npx tsx examples/outbox/add.ts < events.jsonl
import { createInterface } from "node:readline";
import { Redis } from "ioredis";
import { Outbox, type OutboxEvent } from "./outbox.ts";

const connection = new Redis(process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379");
const outbox = new Outbox(connection);
for await (const line of createInterface({ input: process.stdin })) {
  // `add` checks it.
  await outbox.add(JSON.parse(line) as OutboxEvent);
}
await outbox.close();
await connection.quit();
