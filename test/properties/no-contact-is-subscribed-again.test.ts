import { AudienceClient, type BulkRequest } from "audience-sdk";
import type { Checkpoint } from "audience-sdk/checkpoint";
import { createMockService } from "audience-sdk/mock";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "./runs.ts";

type Family = "upsert" | "addContact" | "v2";
interface Person {
  readonly email: string;
  readonly city: string;
}

/** An unsubscription of one person, `turns` turns of the event loop after the start of the run. */
interface Unsubscription {
  readonly person: number;
  readonly family: Family;
  readonly turn: number;
}

const family = fc.constantFrom<Family>("upsert", "addContact", "v2");

function write(
  { v1, v2 }: AudienceClient,
  by: Family,
  email: string,
  isSubscribed: boolean,
  o?: BulkRequest,
) {
  const email_opt_in = isSubscribed ? ("SUBSCRIBED" as const) : ("UNSUBSCRIBED" as const);
  if (by === "upsert") return v1.customers.upsert({ email, email_opt_in }, o);
  if (by === "addContact") return v1.contactGroups.addContact("mock-list", { email, email_opt_in }, o);
  const consent = { createdAt: "2026-01-01T00:00:00Z", ip: "192.0.2.1", source: "test" };
  const channels = { email: { status: email_opt_in.toLowerCase() } };
  const identifiers = [{ type: "email" as const, id: email, channels, consent }];
  return v2.contacts.upsert({ firstName: "A", listIds: [], identifiers }, o);
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** One process: a run of the rows, and unsubscriptions during the run. It dies at its request number `dyingAt`. */
async function live(
  mock: ReturnType<typeof createMockService>,
  disk: Map<string, string>,
  o: {
    rows: readonly Person[];
    by: Family;
    concurrency: number;
    latencies: readonly number[];
    unsubscriptions: readonly Unsubscription[];
    dyingAt: number;
  },
): Promise<Set<string>> {
  const unsubscribed = new Set<string>();
  let requests = 0;
  let die: () => void = () => {};
  const died = new Promise<void>((resolve) => (die = resolve));
  const audience = new AudienceClient({
    ...mock.clientOptions,
    fetch: async (url, init) => {
      const number = requests++;
      await turns(o.latencies[number % o.latencies.length]!);
      if (number > o.dyingAt) return await new Promise<never>(() => {});
      const response = await mock.fetch(url, init);
      if (number === o.dyingAt) {
        die();
        return await new Promise<never>(() => {});
      }
      await turns(o.latencies[(number + 1) % o.latencies.length]!);
      return response;
    },
  });
  const checkpoint: Checkpoint = {
    open: async () => ({
      get: (key) => disk.get(key),
      set: (key, value) => void (value !== undefined ? disk.set(key, value) : disk.delete(key)),
      clear: () => disk.clear(),
      close: () => undefined,
    }),
  };
  const run = audience.bulk(o.rows, ({ email }, request) => write(audience, o.by, email, true, request), {
    key: ({ email }) => email,
    checkpoint,
    concurrency: o.concurrency,
  });
  let isOver = false;
  const ended = run.summary().then(() => (isOver = true));
  await Promise.resolve();
  const unsubscribing = o.unsubscriptions.map(async ({ person, family: by, turn }) => {
    await turns(turn);
    // Consent that is written while no run is active is a matter of `isCurrent`.
    if (isOver) return;
    const { email } = o.rows[person % o.rows.length]!;
    unsubscribed.add(email);
    await write(audience, by, email, false);
  });
  await Promise.race([died, Promise.all([ended, ...unsubscribing])]);
  return unsubscribed;
}

it("A contact that unsubscribes through the client during a run stays unsubscribed, also after a kill and in the next run", async () => {
  let superseded = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        people: fc.integer({ min: 1, max: 8 }),
        by: family,
        concurrency: fc.integer({ min: 1, max: 4 }),
        latencies: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 8 }),
        unsubscriptions: fc.array(
          fc.record({ person: fc.nat(7), family, turn: fc.integer({ min: 0, max: 30 }) }),
          { minLength: 1, maxLength: 5 },
        ),
        dyingAt: fc.oneof(fc.constant(Infinity), fc.nat(12)),
      }),
      async ({ people, ...o }) => {
        const mock = createMockService();
        const disk = new Map<string, string>();
        const rows = (city: string) =>
          Array.from({ length: people }, (_, n): Person => ({ email: `p${n}@example.com`, city }));

        const unsubscribed = await live(mock, disk, { ...o, rows: rows("Rome") });
        const arrived = mock.requests.flatMap(({ body }) =>
          /unsubscribed/i.test(JSON.stringify(body)) ? [emailOf(body)] : [],
        );
        const resumed = { ...o, unsubscriptions: [], dyingAt: Infinity };
        await live(mock, disk, { ...resumed, rows: rows("Rome") });
        await live(mock, disk, { ...resumed, rows: rows("Oslo") });

        const states = new Map(
          mock.organization("mock-organization").contacts.map((each) => [each.email, each.email_opt_in]),
        );
        for (const email of unsubscribed)
          if (arrived.includes(email)) expect([email, states.get(email)]).toEqual([email, "UNSUBSCRIBED"]);
        superseded += [...disk.values()].filter((value) => value.startsWith("superseded ")).length;
      },
    ),
    runs(300),
  );
  // The property needs runs with unsubscriptions.
  expect(superseded).toBeGreaterThan(50);
});

function emailOf(body: unknown): string | undefined {
  // Safe: `write` sends this body.
  const { email, identifiers } = body as { email?: string; identifiers?: { id: string }[] };
  return email ?? identifiers?.[0]?.id;
}
