import { AudienceClient, type BulkOptions, type Fetch } from "audience-sdk";
import type { Checkpoint } from "audience-sdk/checkpoint";
import { createMockService } from "audience-sdk/mock";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { importRow, rowOf, type ImportRow } from "../bulk/killed-import/rows.ts";
import { MemoryCheckpoint } from "../bulk/memory-checkpoint.ts";
import { runs } from "./runs.ts";

/** The state that outlives a process. */
interface World {
  readonly mock: ReturnType<typeof createMockService>;
  /** What the processes so far have recorded. */
  disk: MemoryCheckpoint;
  /** A key for each process: one that was killed would still be asked, as it is in this one. */
  readonly keys: string[];
}

let worlds = 0;

function newWorld(): World {
  const world = (worlds += 1);
  const keys = Array.from({ length: 20 }, (_, process) => `mock-key-of-${world}-${process}`);
  const organization = { id: "acme", apiKeys: keys, apiKeysV2: keys, appId: "app" };
  return {
    mock: createMockService({ organizations: [organization] }),
    disk: new MemoryCheckpoint(),
    keys: [...keys],
  };
}

/** The client of a new process. */
function newClient(world: World, fetch: Fetch): AudienceClient {
  const key = world.keys.pop()!;
  return new AudienceClient({
    ...world.mock.clientOptions,
    apiKey: key,
    apiKeyV2: key,
    maxRetries: 0,
    fetch,
  });
}

interface Import {
  readonly rows: readonly ImportRow[];
  readonly concurrency: number;
  readonly isKeyed: boolean;
}

/** Dies at its step number `dyingAt`: no operation completes after it. */
class Process {
  #steps = 0;
  readonly #dyingAt: number;
  readonly died: Promise<void>;
  #die: () => void = () => {};

  constructor(dyingAt: number) {
    this.#dyingAt = dyingAt;
    this.died = new Promise((resolve) => (this.#die = resolve));
  }

  /** Before a step with an external effect, and after it. */
  async step(): Promise<void> {
    if (++this.#steps < this.#dyingAt) return;
    this.#die();
    await new Promise<never>(() => {});
  }
}

/** One life: until the process dies or completes. */
async function live(world: World, process: Process, { rows, concurrency, isKeyed }: Import) {
  const { mock, disk } = world;
  const audience = newClient(world, async (url, init) => {
    await process.step();
    const response = await mock.fetch(url, init);
    await process.step();
    return response;
  });
  const checkpoint: Checkpoint = {
    open: async () => {
      const opened = await disk.open();
      return {
        ...opened,
        put: async (name, line, options) => {
          await process.step();
          await opened.put(name, line, options);
          await process.step();
        },
      };
    },
  };
  const run = audience.bulk(rows, importRow, { checkpoint, concurrency, ...optionsOf(isKeyed) });
  const unknown = new Set<string>();
  const whole = (async () => {
    for await (const { item, status } of run) if (status === "unknown") unknown.add(item.id);
    return { isOver: true, unknown };
  })();
  return await Promise.race([whole, process.died.then(() => ({ isOver: false, unknown }))]);
}

function optionsOf(isKeyed: boolean): BulkOptions<ImportRow> {
  return { organization: "acme", ...(isKeyed && { key: ({ id }) => id }) };
}

/** The rows whose success is recorded: a run that reaches no service skips them. */
async function recordedIn(world: World, { rows, isKeyed }: Import): Promise<Set<string>> {
  const audience = newClient(world, async () => {
    throw new TypeError("no network");
  });
  const checkpoint = world.disk.copy();
  const run = audience.bulk(rows, importRow, { checkpoint, stopWhen: () => false, ...optionsOf(isKeyed) });
  const recorded = new Set<string>();
  for await (const { item, status } of run) if (status === "skipped") recorded.add(item.id);
  return recorded;
}

const kinds = fc.constantFrom<ImportRow["kind"]>("upsert", "double opt-in", "event");

it("An import that dies at any steps loses no row, resends no row that is recorded as done, and sends no unrepeatable row twice", async () => {
  let deaths = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(kinds, { minLength: 1, maxLength: 25 }),
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 6 }),
      fc.boolean(),
      async (kindsOfRows, concurrency, dyingAt, isKeyed) => {
        const rows = kindsOfRows.map((kind, index): ImportRow => ({ id: `row-${index}`, kind }));
        const world = newWorld();
        const given: Import = { rows, concurrency, isKeyed };
        const sentTwice = new Set<string>();
        const everSent = new Set<string>();
        let last: Awaited<ReturnType<typeof live>> | undefined;

        for (const step of [...dyingAt, Infinity]) {
          const recorded = await recordedIn(world, given);
          const before = world.mock.requests.length;
          // A process that was killed records nothing more.
          world.disk = world.disk.copy();
          last = await live(world, new Process(step), given);
          if (!last.isOver) deaths++;
          const sent = world.mock.requests.slice(before).map(({ body }) => rowOf(body));
          const again = sent.filter((id) => everSent.has(id));

          expect(sent.filter((id) => recorded.has(id))).toEqual([]);
          expect(again.length).toBeLessThanOrEqual(concurrency * dyingAt.length);
          for (const id of again) sentTwice.add(id);
          for (const id of sent) everSent.add(id);
          if (isKeyed) continue;
          // Without a key the next run begins afresh.
          if (last.isOver) expect(world.disk.entries.size).toBe(0);
          if (last.isOver) break;
        }

        const { contacts, events } = world.mock.organization("acme");
        const stored = new Set(contacts.map(({ email }) => rowOf({ email })));
        expect(last?.isOver).toBe(true);
        expect(rows.filter(({ id }) => !stored.has(id) && !last?.unknown.has(id))).toEqual([]);
        expect(rows.filter(({ id, kind }) => kind === "double opt-in" && sentTwice.has(id))).toEqual([]);
        expect(rows.filter(({ id, kind }) => kind !== "double opt-in" && last?.unknown.has(id))).toEqual([]);
        expect(sentTwice.size).toBeLessThanOrEqual(concurrency * dyingAt.length);
        expect(events).toHaveLength(rows.filter(({ kind }) => kind === "event").length);
      },
    ),
    runs(150, 10),
  );
  // The property needs imports that die.
  expect(deaths).toBeGreaterThan(10);
});
