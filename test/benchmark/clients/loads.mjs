// One process with one load of our client: `node --expose-gc loads.mjs LOAD FOLDER`, with a folder for its files. Prints its
// figures as JSON.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { AudienceClient, write } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";

const [load, folder] = process.argv.slice(2);
const options = { baseUrl: "https://loads.example.com", apiKey: "key-0123456789abcdef" };
const person = (number) => ({ email: `person${number}@example.com`, email_opt_in: "SUBSCRIBED" });

/** A service that responds at once, and shows each contact under its address. */
async function instantService(url, { method, body }) {
  const path = decodeURIComponent(new URL(url).pathname);
  const email = method === "GET" ? path.slice(path.lastIndexOf("/") + 1) : JSON.parse(body).email;
  const attributes = { email, email_opt_in: "SUBSCRIBED", phone_opt_in: null, is_suppressed: false };
  return Response.json(
    { data: { type: "profile", id: email, attributes } },
    { status: method === "GET" ? 200 : 201 },
  );
}

const loads = {
  /** Calls that are made in one turn, and the turns until all wait. */
  async waitingCalls() {
    const client = new AudienceClient({ ...options, rateLimiter: {}, fetch: () => new Promise(() => {}) });
    const before = performance.now();
    for (let count = 0; count < 10_000; count += 1) client.v1.customers.upsert(person(count)).catch(() => {});
    await wait(0);
    return { blockedMs: performance.now() - before };
  },

  async refusedCalls() {
    const client = new AudienceClient({
      ...options,
      rateLimiter: { maxQueued: 100 },
      fetch: () => new Promise(() => {}),
    });
    const before = process.cpuUsage();
    let refused = 0;
    for (let count = 0; count < 50_000; count += 1)
      client.v1.customers
        .upsert(person(count))
        .catch((error) => void (refused += error.code === "rate_limit_wait"));
    await wait(0);
    const cpuMs = cpuSince(before);
    if (refused < 49_800) throw new Error(`only ${refused} calls were refused`);
    return { cpuMs };
  },

  /** Rows that have changed, with a checkpoint and a look each, and rows without a checkpoint. */
  async rows() {
    const client = new AudienceClient({ ...options, rateLimiter: false, fetch: instantService });
    const night = async (city, checkpoint) => {
      const rows = Array.from({ length: 2_000 }, (_, number) => ({ ...person(number), city }));
      const before = process.cpuUsage();
      const key = ({ email }) => email;
      const run = client.bulk(
        rows,
        (row) => write.v1.customers.upsert(row),
        checkpoint ? { key, checkpoint } : { key },
      );
      const { succeeded } = await run;
      if (succeeded !== rows.length) throw new Error(`only ${succeeded} rows succeeded`);
      return cpuSince(before) / rows.length;
    };
    const file = join(folder, `${randomUUID()}.ckpt`);
    await night("Paris", fileCheckpoint(file));
    await night("Oslo");
    return { changedRowMs: await night("Rome", fileCheckpoint(file)), plainRowMs: await night("Bern") };
  },

  /** What a checkpoint of 100,000 rows takes to open, and holds. */
  async recordedRows() {
    const client = new AudienceClient({ ...options, rateLimiter: false, fetch: instantService });
    const rows = Array.from({ length: 100_000 }, (_, number) => person(number));
    const file = join(folder, "recorded.ckpt");
    const bulkOptions = { key: ({ email }) => email, checkpoint: fileCheckpoint(file), concurrency: 50 };
    const toWrites = (row) => write.v1.customers.upsert(row);
    await client.bulk(rows, toWrites, bulkOptions);
    const before = await bytesInUse();
    const startedAt = performance.now();
    // The first row is skipped once the checkpoint is open.
    for await (const { status } of client.bulk(rows, toWrites, { ...bulkOptions, concurrency: 1 })) {
      if (status !== "skipped") throw new Error(`a recorded row is ${status}`);
      const openMs = performance.now() - startedAt;
      return { openMs, heldBytes: (await bytesInUse()) - before };
    }
    throw new Error("no row was read");
  },
};

function cpuSince(before) {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

async function bytesInUse() {
  globalThis.gc();
  await wait(100);
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

console.log(JSON.stringify(await loads[load]()));
// The calls of some loads never end.
process.exit();
