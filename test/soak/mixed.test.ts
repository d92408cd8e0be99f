import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AudienceClient, isAudienceError, RateLimiter, write } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { createMockService } from "audience-sdk/mock";
import { expect, it, onTestFinished } from "vitest";
import { faultKinds } from "../chaos/service.ts";
import { randomFrom } from "../rate-limiter/simulation.ts";
import { heldMb } from "./measures.ts";

const durationMs = Number(process.env["SOAK_MS"] ?? 120_000);
const seed = Number(process.env["SOAK_SEED"] ?? (process.env["CI"] === undefined ? Date.now() % 2 ** 31 : 1));
// Every twelfth request is lost or cut, and keeps its permit for five more seconds: these windows still allow progress.
const windows = [
  { limit: 100, intervalMs: 500 },
  { limit: 1_500, intervalMs: 10_000 },
  { limit: 50_000, intervalMs: 3_600_000 },
];

/** One in a hundred requests gets each fault, and fewer a 429, which halves the limiter's rate. */
const faults = faultKinds.map((kind) => ({
  kind,
  probability: kind === "429" ? 0.003 : 0.01,
  retryAfter: 0,
  delayMs: kind === "latency" ? 100 : kind === "slow-body" ? 10 : 0,
}));

const contacts = Array.from({ length: 250 }, (_, at) => ({ email: `seeded-${at}@example.com` }));
const organization = { id: "soak", apiKeys: ["mock-soak-key"], appId: "soak-app", contacts };

/** The outcome that each event was told, by its id. */
type Told = Map<string, string>;

const eventOf = (id: string) => ({
  eventName: "soak",
  uniqueIdentifier: id,
  contact: { email: `${id}@example.com` },
});

async function outcomeOf(call: PromiseLike<unknown>): Promise<string> {
  try {
    await call;
    return "applied";
  } catch (error) {
    if (!isAudienceError(error)) throw error;
    return error.outcome;
  }
}

/** A run with a checkpoint, stopped and begun again until no row is left; the last ones end by themselves. */
async function importAll(audience: AudienceClient, ids: string[], path: string, random: () => number) {
  const left = new Set(ids);
  for (let life = 0; life < 50 && left.size > 0; life++) {
    const signal = life < 3 ? AbortSignal.timeout(Math.ceil(random() * 1_500)) : undefined;
    const options = { key: (id: string) => id, checkpoint: fileCheckpoint(path), signal, concurrency: 5 };
    const run = audience.bulk(ids, (id) => write.v1.events.send(eventOf(id)), options);
    try {
      for await (const { item, status } of run)
        if (status === "succeeded" || status === "skipped") left.delete(item);
    } catch (error) {
      if (!isAudienceError(error)) throw error;
    }
  }
  return left;
}

function openResources(): number {
  return process.getActiveResourcesInfo().filter((name) => name !== "Timeout").length;
}

it(
  `simultaneous calls, faults and aborts over real sockets lose, duplicate and leak nothing (seed ${seed})`,
  { timeout: durationMs + 120_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "soak-mixed-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const resourcesBefore = openResources();
    const mock = createMockService({
      organizations: [organization],
      rateLimits: { windows },
      faults,
      latencyMs: [0, 15],
      seed,
    });
    const { clientOptions, close } = await mock.listen();
    const [rateLimiter, random] = [new RateLimiter({ windows }), randomFrom(seed)];
    const audience = new AudienceClient({
      ...clientOptions,
      rateLimiter,
      timeoutMs: 3_000,
      maxRetries: 3,
      deadlineMs: 15_000,
    });
    const told: Told = new Map();
    const held: number[] = [];
    const over = AbortSignal.timeout(durationMs);
    const weighing = setInterval(() => void heldMb().then((mb) => held.push(mb)), durationMs / 8);

    const caller = async () => {
      while (!over.aborted) {
        const id = `call-${told.size}`;
        told.set(id, "under way");
        const signal = random() < 0.06 ? AbortSignal.timeout(Math.ceil(random() * 150)) : undefined;
        const deadline = random() < 0.06 && { deadlineMs: Math.ceil(random() * 300) };
        const options = { priority: Math.floor(random() * 10), signal, ...deadline };
        told.set(id, await outcomeOf(audience.v1.events.send(eventOf(id), options)));
        // About half of the lists are left early.
        const list =
          random() < 0.5 ? audience.v1.customers.list({ limit: 20 }, options) : audience.v2.lists.list();
        expect(await outcomeOf(list.toArray({ max: Math.ceil(random() * 80) }))).not.toBe("unknown");
      }
    };
    const imports = async () => {
      for (let run = 0; !over.aborted; run++) {
        const ids = Array.from({ length: 40 }, (_, row) => `bulk-${run}-${row}`);
        const left = await importAll(audience, ids, join(folder, `${run}.ckpt`), random);
        for (const id of ids) told.set(id, left.has(id) ? "unknown" : "applied");
      }
    };
    await Promise.all([imports(), ...Array.from({ length: 24 }, caller)]).finally(() =>
      clearInterval(weighing),
    );
    await audience.close();

    const recorded = mock.organization("soak").events.map(({ uniqueIdentifier = "" }) => uniqueIdentifier);
    const isRecorded = new Set(recorded);
    expect(isRecorded.size).toBe(recorded.length);
    const wrong = [...told].filter(
      ([id, outcome]) => outcome !== "unknown" && isRecorded.has(id) !== (outcome === "applied"),
    );
    expect(wrong).toEqual([]);
    expect(rateLimiter.usage()).toMatchObject({ queued: 0, inFlight: 0 });
    const unprovoked = mock.requests.filter(({ status, fault }) => status === 429 && fault === undefined);
    expect(unprovoked).toEqual([]);
    for (const kind of faultKinds) expect(mock.requests.some(({ fault }) => fault === kind)).toBe(true);
    console.log({ seed, arrived: mock.requests.length, recorded: recorded.length, held });

    await close();
    mock.reset();
    // Sockets close a moment after their release; none may be left.
    for (let turn = 0; turn < 100 && openResources() > resourcesBefore; turn++)
      await once(AbortSignal.timeout(100), "abort");
    expect(openResources()).toBeLessThanOrEqual(resourcesBefore);
    // Only the mock's state grew; without it the memory is at most as after the first eighth.
    expect((await heldMb()) - (held[0] ?? 0)).toBeLessThan(15);
  },
);
