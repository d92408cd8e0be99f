import { type Write, write } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { createFixture, key, type Row, rows, upsert } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

interface Order {
  readonly id: string;
  readonly total: number;
}

/** The ids of events as they arrived. */
const idsOf = ({ mock }: ReturnType<typeof createFixture>) =>
  mock.requests
    .filter(({ operation }) => operation === "v1.events.send")
    .map(({ body }) => (body as { uniqueIdentifier: string }).uniqueIdentifier);

const totalsOf = ({ mock }: ReturnType<typeof createFixture>) =>
  mock.organization("mock-organization").events.map(({ eventData }) => eventData?.["total"]);

/** Nights of one order, whose row is an event without an id. `left`: what a kill leaves once a call has been answered. */
function ordersOf(world: ReturnType<typeof createFixture>) {
  const checkpoint = new MemoryCheckpoint();
  const left: MemoryCheckpoint[] = [];
  const audience = world.audience.withOptions({
    fetch: async (url, init) => {
      const response = await world.mock.fetch(url, init);
      left.push(checkpoint.copy());
      return response;
    },
  });
  const ordered = ({ total }: Order) =>
    write.v1.events.send({
      eventName: "ordered",
      contact: { email: "ada@example.com" },
      eventData: { total },
    });
  const night = async (total: number, over = checkpoint) =>
    await audience.bulk([{ id: "a", total }], ordered, { key: ({ id }) => id, checkpoint: over });
  return { left, night };
}

/** Events of these names. */
const events =
  (...names: string[]) =>
  ({ email }: Row): Write[] =>
    names.map((eventName) => write.v1.events.send({ eventName, contact: { email } }));

describe("An event without an id", () => {
  it("gets a new id after each change of its row, also back, and is recorded each time", async () => {
    const world = createFixture();
    const { night } = ordersOf(world);
    // So many that a version has two digits.
    const totals = Array.from({ length: 12 }, (_, index) => index % 2);

    for (const total of totals) await night(total);

    expect(totalsOf(world)).toEqual(totals);
    expect(new Set(idsOf(world)).size).toBe(12);
  });

  it("has the same id after an unknown end, and a new one once the row has changed", async () => {
    const world = createFixture({ faults: [{ kind: "reset-after", times: 2, after: 1 }] }, { maxRetries: 0 });
    const { night } = ordersOf(world);

    for (const total of [1, 2, 2, 3, 2]) await night(total);

    expect(totalsOf(world)).toEqual([1, 2, 3, 2]);
    const [first, second, again, ...later] = idsOf(world);
    expect(again).toBe(second);
    expect(new Set([first, second, ...later]).size).toBe(4);
  });

  it("has the same id after each kill, and is recorded once", async () => {
    const world = createFixture();
    const { left, night } = ordersOf(world);
    await night(1);
    await night(2);

    for (const killed of [left[1]!, left[1]!.copy()])
      expect(await night(2, killed)).toMatchObject({ succeeded: 1 });

    expect(world.mock.requests).toHaveLength(4);
    expect(totalsOf(world)).toEqual([1, 2]);
  });

  it("has an id of its own within its row, behind another write, in another row, and over another checkpoint", async () => {
    const world = createFixture();
    const toWrites = (item: Row) => [upsert(item), ...events("ordered", "ordered", "paid")(item)];
    for (const checkpoint of [new MemoryCheckpoint(), new MemoryCheckpoint()])
      await world.audience.bulk(rows(2), toWrites, { checkpoint, key });

    expect(new Set(idsOf(world)).size).toBe(12);
  });

  it("has a random id where there is no checkpoint", async () => {
    const world = createFixture();

    await world.audience.bulk(rows(2), events("ordered", "ordered"), { key });

    expect(new Set(idsOf(world)).size).toBe(4);
    for (const id of idsOf(world)) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });
});

it("An event that has an id keeps it", async () => {
  const world = createFixture();
  const ordered = ({ email }: Row) =>
    write.v1.events.send({ eventName: "ordered", contact: { email }, uniqueIdentifier: "order-17" });

  await world.audience.bulk(rows(1), ordered, { checkpoint: new MemoryCheckpoint(), key });

  expect(idsOf(world)).toEqual(["order-17"]);
});
