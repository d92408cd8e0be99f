import { type BulkOptions, type Write, write } from "audience-sdk";
import { describe, expect, it } from "vitest";
import {
  type Row,
  collectRun,
  createFixture,
  flushEventLoop,
  gated,
  key,
  row,
  rows,
  until,
  upsert,
} from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

type World = ReturnType<typeof createFixture>;

/** What was written; a changed row may be looked up before. */
const bodies = ({ mock }: World) =>
  mock.requests.filter(({ method }) => method === "POST").map(({ body }) => body);

/** Nights over one checkpoint: each gives the status of each row, in the order of the rows. */
function importOf({ audience }: World, more: BulkOptions<Row> = {}) {
  const options = { key, checkpoint: new MemoryCheckpoint(), ...more };
  return async (items: readonly Row[]) => {
    const { results, error } = await collectRun(audience.bulk(items, upsert, options));
    expect(error).toBeUndefined();
    return results.toSorted((a, b) => a.index - b.index).map(({ status }) => status);
  };
}

const named = (first_name: string): Row & { first_name: string } => ({ ...row(0), first_name });
const contactOf = ({ mock }: World) => mock.organization("mock-organization").contacts[0];

it("A changed row that is invalid is told each night, and skipped once it has changed back", async () => {
  const world = createFixture();
  const night = importOf(world);

  const ends = [];
  for (const name of ["Ada", "x".repeat(101), "x".repeat(101), "Ada"])
    ends.push(...(await night([named(name)])));

  expect(ends).toEqual(["succeeded", "invalid", "invalid", "skipped"]);
  expect(world.mock.requests).toHaveLength(1);
});

describe("Two rows with one key are both sent, in order, each night", () => {
  it.each([
    ["though neither has changed", [named("Ada"), named("Bob")], []],
    ["though one has changed", [named("Ada"), named("Bob")], [named("Ada"), named("Cy")]],
    ["three of them", [named("Ada"), named("Bob"), named("Cy")], []],
  ])("%s", async (_, monday, changed) => {
    const world = createFixture();
    const night = importOf(world);
    const tuesday = changed.length > 0 ? changed : monday;

    for (const items of [monday, tuesday]) expect(await night(items)).toEqual(items.map(() => "succeeded"));

    expect(bodies(world)).toEqual([...monday, ...tuesday]);
    expect(contactOf(world)).toMatchObject({ first_name: tuesday.at(-1)!.first_name });
  });

  it("but rows that say the same are one: the second is skipped", async () => {
    const world = createFixture();

    expect(await importOf(world)([named("Ada"), named("Ada")])).toEqual(["succeeded", "skipped"]);
  });

  it.each([undefined, new MemoryCheckpoint()])(
    "the second waits for the end of the first, also where it names another contact, and other rows pass: %o",
    async (checkpoint) => {
      const { mock } = createFixture();
      const gate = gated(mock.clientOptions.fetch);
      const world = createFixture({}, { ...mock.clientOptions, fetch: gate.fetch });
      const night = importOf(world, { key: ({ email }) => (email === row(2).email ? "b" : "a"), checkpoint });

      const ended = night(rows(3));
      await until(() => gate.sent.length === 2);
      await flushEventLoop();
      expect(gate.sent).toHaveLength(2);
      gate.open();

      expect(await ended).toEqual(["succeeded", "succeeded", "succeeded"]);
      expect(bodies({ ...world, mock }).at(-1)).toEqual(row(1));
    },
  );
});

interface Order {
  readonly id: string;
  readonly total: number;
}

/** The ids of events as they arrived. */
const idsOf = ({ mock }: ReturnType<typeof createFixture>) =>
  mock.requests.map(({ body }) => (body as { uniqueIdentifier: string }).uniqueIdentifier);

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

    for (const total of [1, 2, 1, 2]) await night(total);

    expect(totalsOf(world)).toEqual([1, 2, 1, 2]);
    expect(new Set(idsOf(world)).size).toBe(4);
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

  it("has an id of its own within its row, in another row, and over another checkpoint", async () => {
    const world = createFixture();
    for (const checkpoint of [new MemoryCheckpoint(), new MemoryCheckpoint()])
      await world.audience.bulk(rows(2), events("ordered", "ordered", "paid"), { checkpoint, key });

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
