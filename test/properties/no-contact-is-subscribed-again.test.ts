import { AudienceClient, type BulkRequest } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { MemoryCheckpoint } from "../bulk/memory-checkpoint.ts";
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

let worlds = 0;

/** Each process has its own: one that was killed would still be seen, as it is in this one. */
function newKeys(): [string, string, string] {
  const world = (worlds += 1);
  return [`mock-key-of-${world}-a`, `mock-key-of-${world}-b`, `mock-key-of-${world}-c`];
}

/** One process: a run of the rows, and unsubscriptions during the run. It dies at its request number `dyingAt`. */
async function live(
  mock: ReturnType<typeof createMockService>,
  checkpoint: MemoryCheckpoint,
  o: {
    apiKey: string;
    rows: readonly Person[];
    by: Family;
    concurrency: number;
    latencies: readonly number[];
    unsubscriptions: readonly Unsubscription[];
    dyingAt: number;
  },
): Promise<{ unsubscribed: Set<string>; superseded: number }> {
  const unsubscribed = new Set<string>();
  let superseded = 0;
  let requests = 0;
  let die: () => void = () => {};
  const died = new Promise<void>((resolve) => (die = resolve));
  const audience = new AudienceClient({
    ...mock.clientOptions,
    apiKey: o.apiKey,
    apiKeyV2: o.apiKey,
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
  const run = audience.bulk(o.rows, ({ email }, request) => write(audience, o.by, email, true, request), {
    key: ({ email }) => email,
    checkpoint,
    organization: "acme",
    concurrency: o.concurrency,
  });
  let isOver = false;
  const consume = async () => {
    for await (const { status } of run) if (status === "superseded") superseded += 1;
    isOver = true;
  };
  const ended = consume();
  await Promise.resolve();
  const unsubscribing = o.unsubscriptions.map(async ({ person, family: by, turn }) => {
    // A kill loses what is written before the checkpoint is open.
    while (o.dyingAt < Infinity && !checkpoint.log.includes("append")) await turns(1);
    await turns(turn + 1);
    // Consent that is written while no run is active is a matter of `isCurrent`.
    if (isOver) return;
    const { email } = o.rows[person % o.rows.length]!;
    unsubscribed.add(email);
    await write(audience, by, email, false);
  });
  await Promise.race([died, Promise.all([ended, ...unsubscribing])]);
  return { unsubscribed, superseded };
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
        const keys = newKeys();
        const mock = createMockService({
          organizations: [
            {
              id: "acme",
              apiKeys: keys,
              apiKeysV2: keys,
              appId: "mock-app-id",
              lists: [{ id: "mock-list", name: "List" }],
            },
          ],
        });
        const disk = new MemoryCheckpoint();
        const rows = (city: string) =>
          Array.from({ length: people }, (_, n): Person => ({ email: `p${n}@example.com`, city }));

        const { unsubscribed } = await live(mock, disk, { ...o, apiKey: keys[0], rows: rows("Rome") });
        const arrived = mock.requests.flatMap(({ body }) =>
          /unsubscribed/i.test(JSON.stringify(body)) ? [emailOf(body)] : [],
        );
        const resumed = { ...o, unsubscriptions: [], dyingAt: Infinity };
        // A process that was killed records nothing more.
        const left = disk.copy();
        const second = await live(mock, left, { ...resumed, apiKey: keys[1], rows: rows("Rome") });
        const third = await live(mock, left, { ...resumed, apiKey: keys[2], rows: rows("Oslo") });

        const states = new Map(
          mock.organization("acme").contacts.map((each) => [each.email, each.email_opt_in]),
        );
        for (const email of unsubscribed)
          if (arrived.includes(email)) expect([email, states.get(email)]).toEqual([email, "UNSUBSCRIBED"]);
        superseded += second.superseded + third.superseded;
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
