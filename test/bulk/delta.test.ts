import type { BulkOptions } from "audience-sdk";
import { describe, expect, it } from "vitest";
import {
  collectRun,
  createFixture,
  flushEventLoop,
  gated,
  key,
  row,
  type Row,
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

describe("With a key and a checkpoint, a later run sends exactly what is new or changed", () => {
  it("an unchanged row is skipped, a changed row and a new row are sent", async () => {
    const world = createFixture();
    const night = importOf(world);
    await night(rows(3));
    world.mock.reset();
    const changed: Row = { ...row(1), email_opt_in: "UNSUBSCRIBED" };

    expect(await night([row(0), changed, row(2), row(3)])).toEqual([
      "skipped",
      "succeeded",
      "skipped",
      "succeeded",
    ]);
    expect(bodies(world)).toEqual([changed, row(3)]);
  });

  it("a row that changes back is sent", async () => {
    const world = createFixture();
    const night = importOf(world);
    const [a, b] = [named("Ada"), named("Bob")];

    const ends = [];
    for (const item of [a, b, b, a, a, b]) ends.push(...(await night([item])));

    expect(ends).toEqual(["succeeded", "succeeded", "skipped", "succeeded", "skipped", "succeeded"]);
    expect(bodies(world)).toEqual([a, b, a, b]);
  });

  it("a changed row that is invalid is told each night, and skipped once it has changed back", async () => {
    const world = createFixture();
    const night = importOf(world);
    await night([row(0)]);
    const bad = named("x".repeat(101));

    expect([...(await night([bad])), ...(await night([bad])), ...(await night([row(0)]))]).toEqual([
      "invalid",
      "invalid",
      "skipped",
    ]);
    expect(world.mock.requests).toHaveLength(1);
  });

  it.each([
    ["was not applied: it is as the night before", "redirect", ["failed", "skipped"]],
    [
      "may have been applied: it is sent, as it may have to be undone",
      "reset-after",
      ["unknown", "succeeded"],
    ],
  ] as const)("a row that changed back after a write that %s", async (_, kind, ends) => {
    const world = createFixture({}, { maxRetries: 0 });
    const night = importOf(world, { checkConsent: false });
    await night([named("Ada")]);
    world.mock.addFault({ kind, times: 1 });

    expect([...(await night([named("Bob")])), ...(await night([named("Ada")]))]).toEqual(ends);
    expect(contactOf(world)).toMatchObject({ first_name: "Ada" });
  });
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

  it("the second waits for the end of the first, also where it names another contact", async () => {
    const { mock } = createFixture();
    const gate = gated(mock.clientOptions.fetch);
    const world = createFixture({}, { ...mock.clientOptions, fetch: gate.fetch });
    const night = importOf(world, { key: () => "1", checkConsent: false });

    const ended = night([row(0), row(1)]);
    await until(() => gate.sent.length > 0);
    await flushEventLoop();
    expect(gate.sent).toHaveLength(1);
    gate.open();

    expect(await ended).toEqual(["succeeded", "succeeded"]);
    expect(bodies({ ...world, mock })).toEqual([row(0), row(1)]);
  });
});

it("Over one checkpoint the clients of two processes run one after the other", async () => {
  const one = createFixture();
  const other = createFixture({}, one.mock.clientOptions);
  const options = { key, checkpoint: new MemoryCheckpoint() };

  expect(await one.audience.bulk(rows(5), upsert, options)).toMatchObject({ succeeded: 5 });
  expect(await other.audience.bulk(rows(5), upsert, options)).toMatchObject({ skipped: 5 });
  expect(one.mock.requests).toHaveLength(5);
});
