import type { BulkOptions, BulkRequest } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { collectRun, createFixture, key, row, rows, type Row } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

interface Order {
  readonly id: string;
  readonly total: number;
}

const { email } = row(0);

/** An import of one order, whose row is an event without an id. */
function importOf(world: ReturnType<typeof createFixture>, options: BulkOptions<Order>) {
  const send = ({ total }: Order, request: BulkRequest) =>
    world.audience.v1.events.send(
      { eventName: "ordered", contact: { email }, eventData: { total } },
      request,
    );
  return async (total: number, checkpoint = options.checkpoint) =>
    await world.audience.bulk([{ id: "a", total }], send, { ...options, checkpoint });
}

const byId = ({ id }: Order) => id;
const eventsOf = ({ mock }: ReturnType<typeof createFixture>) =>
  mock.organization("mock-organization").events;
const idsOf = ({ mock }: ReturnType<typeof createFixture>) =>
  mock.requests.map(({ body }) => (body as { uniqueIdentifier: string }).uniqueIdentifier);

/** A row that sends events of these names, one after the other. */
const sendAll =
  ({ audience }: ReturnType<typeof createFixture>, ...names: string[]) =>
  async (item: Row, request: BulkRequest) => {
    for (const eventName of names)
      await audience.v1.events.send({ eventName, contact: { email: item.email } }, request);
  };

describe("An event without an id", () => {
  it("gets a new id after each change of its row, also back, and is recorded each time", async () => {
    const world = createFixture();
    const night = importOf(world, { key: byId, checkpoint: new MemoryCheckpoint() });

    for (const total of [1, 2, 1, 2]) await night(total);

    expect(eventsOf(world).map(({ eventData }) => eventData?.["total"])).toEqual([1, 2, 1, 2]);
    expect(new Set(idsOf(world)).size).toBe(4);
  });

  it("is a new event where the row changes again after an unknown outcome", async () => {
    const world = createFixture({ faults: [{ kind: "reset-after", times: 1, after: 1 }] }, { maxRetries: 0 });
    const night = importOf(world, { key: byId, checkpoint: new MemoryCheckpoint() });

    for (const total of [1, 2, 3, 2]) await night(total);

    expect(eventsOf(world).map(({ eventData }) => eventData?.["total"])).toEqual([1, 2, 3, 2]);
  });

  it("has the same id after each kill, and is recorded once", async () => {
    const { mock } = createFixture();
    let checkpoint = new MemoryCheckpoint();
    let killed: MemoryCheckpoint | undefined;
    const world = createFixture(
      {},
      {
        ...mock.clientOptions,
        fetch: async (url, init) => {
          const response = await mock.fetch(url, init);
          killed = checkpoint.copy();
          return response;
        },
      },
    );
    const night = importOf({ ...world, mock }, { key: byId, checkpoint });
    await night(1);
    await night(2);

    for (const _ of [1, 2]) {
      checkpoint = killed!;
      expect(await night(2, checkpoint)).toMatchObject({ succeeded: 1 });
    }

    expect(mock.requests).toHaveLength(4);
    expect(eventsOf({ ...world, mock })).toHaveLength(2);
  });

  it("has an id of its own within its row, and the same in the next run after a kill", async () => {
    const world = createFixture();
    const checkpoint = new MemoryCheckpoint();
    let killed: MemoryCheckpoint | undefined;
    const call = async (item: Row, request: BulkRequest) => {
      await sendAll(world, "imported", "imported")(item, request);
      killed = checkpoint.copy();
    };
    await world.audience.bulk(rows(1), call, { checkpoint, key });

    await world.audience.bulk(rows(1), call, { checkpoint: killed, key });

    const ids = idsOf(world);
    expect(ids.slice(2)).toEqual(ids.slice(0, 2));
    expect(new Set(ids).size).toBe(2);
    expect(eventsOf(world)).toHaveLength(2);
  });

  it("keeps its id where the row's other events come in another order after a kill", async () => {
    const world = createFixture();
    const checkpoint = new MemoryCheckpoint();
    let killed: MemoryCheckpoint | undefined;
    const call = async (item: Row, request: BulkRequest) => {
      await sendAll(world, "welcomed")(item, request);
      killed = checkpoint.copy();
    };
    await world.audience.bulk(rows(1), call, { checkpoint, key });

    const { results } = await collectRun(
      world.audience.bulk(rows(1), sendAll(world, "ordered", "welcomed"), { checkpoint: killed, key }),
    );

    expect(results).toMatchObject([{ status: "succeeded" }]);
    expect(eventsOf(world).map(({ eventName }) => eventName)).toEqual(["welcomed", "ordered"]);
  });

  it("has another id in another row, and over another checkpoint", async () => {
    const world = createFixture();
    for (const checkpoint of [new MemoryCheckpoint(), new MemoryCheckpoint()])
      await world.audience.bulk(rows(2), sendAll(world, "imported"), { checkpoint, key });

    expect(new Set(idsOf(world)).size).toBe(4);
  });

  it("has a random id where there is no checkpoint", async () => {
    const world = createFixture();

    await world.audience.bulk(rows(2), sendAll(world, "imported", "imported"), { key });

    expect(new Set(idsOf(world)).size).toBe(4);
    for (const id of idsOf(world)) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });
});

it("An event that has an id keeps it", async () => {
  const { audience, mock } = createFixture();
  const call = ({ email: to }: Row, request: BulkRequest) =>
    audience.v1.events.send(
      { eventName: "imported", contact: { email: to }, uniqueIdentifier: "order-17" },
      request,
    );

  await audience.bulk(rows(1), call, { checkpoint: new MemoryCheckpoint(), key });

  expect(mock.requests).toMatchObject([{ body: { uniqueIdentifier: "order-17" } }]);
});
