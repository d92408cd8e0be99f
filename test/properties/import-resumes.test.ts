import { AudienceClient, type BulkRequest } from "audience-sdk";
import type { Checkpoint } from "audience-sdk/checkpoint";
import { createMockService } from "audience-sdk/mock";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { importRow, rowOf, type ImportRow } from "../bulk/killed-import/rows.ts";
import { runs } from "./runs.ts";

/** The state that outlives a process: the disk, the service, and the requests of each life. */
interface World {
  readonly mock: ReturnType<typeof createMockService>;
  readonly disk: Map<string, string>;
  /** The rows by their keys in the checkpoint, as their calls received them. */
  readonly ids: Map<string, string>;
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
async function live(
  { mock, disk, ids }: World,
  rows: readonly ImportRow[],
  process: Process,
  { concurrency, isKeyed }: { concurrency: number; isKeyed: boolean },
) {
  const audience = new AudienceClient({
    ...mock.clientOptions,
    maxRetries: 0,
    fetch: async (url, init) => {
      await process.step();
      const response = await mock.fetch(url, init);
      await process.step();
      return response;
    },
  });
  const checkpoint: Checkpoint = {
    open: async () => ({
      get: (key) => disk.get(key),
      set: async (key, value) => {
        await process.step();
        if (value === undefined) disk.delete(key);
        else disk.set(key, value);
        await process.step();
      },
      clear: () => disk.clear(),
      close: () => undefined,
    }),
  };
  const call = (row: ImportRow, request: BulkRequest) => {
    ids.set(`row:${request.key}`, row.id);
    return importRow(audience, row, request);
  };
  const run = audience.bulk(rows, call, {
    checkpoint,
    concurrency,
    ...(isKeyed && { key: ({ id }: ImportRow) => id }),
  });
  const unknown = new Set<string>();
  const whole = (async () => {
    for await (const { item, status } of run) if (status === "unknown") unknown.add(item.id);
    return { isOver: true, unknown };
  })();
  return await Promise.race([whole, process.died.then(() => ({ isOver: false, unknown }))]);
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
        const world: World = { mock: createMockService(), disk: new Map(), ids: new Map() };
        const sentTwice = new Set<string>();
        const everSent = new Set<string>();
        let last: Awaited<ReturnType<typeof live>> | undefined;

        for (const step of [...dyingAt, Infinity]) {
          const recorded = new Set(
            [...world.disk].flatMap(([key, value]) =>
              value.startsWith("succeeded ") ? [world.ids.get(key)] : [],
            ),
          );
          const before = world.mock.requests.length;
          last = await live(world, rows, new Process(step), { concurrency, isKeyed });
          if (!last.isOver) deaths++;
          const sent = world.mock.requests.slice(before).map(({ body }) => rowOf(body));
          const again = sent.filter((id) => everSent.has(id));

          expect(sent.filter((id) => recorded.has(id))).toEqual([]);
          expect(again.length).toBeLessThanOrEqual(concurrency * dyingAt.length);
          for (const id of again) sentTwice.add(id);
          for (const id of sent) everSent.add(id);
          // Without a key the next run would start from the beginning.
          if (last.isOver && !isKeyed) {
            expect(world.disk).toEqual(new Map());
            break;
          }
        }

        const { contacts, events } = world.mock.organization("mock-organization");
        const stored = new Set(contacts.map(({ email }) => rowOf({ email })));
        expect(last?.isOver).toBe(true);
        expect(rows.filter(({ id }) => !stored.has(id) && !last?.unknown.has(id))).toEqual([]);
        expect(rows.filter(({ id, kind }) => kind === "double opt-in" && sentTwice.has(id))).toEqual([]);
        expect(rows.filter(({ id, kind }) => kind !== "double opt-in" && last?.unknown.has(id))).toEqual([]);
        expect(sentTwice.size).toBeLessThanOrEqual(concurrency * dyingAt.length);
        expect(events).toHaveLength(rows.filter(({ kind }) => kind === "event").length);
      },
    ),
    runs(150),
  );
  // The property needs imports that die.
  expect(deaths).toBeGreaterThan(25);
});
