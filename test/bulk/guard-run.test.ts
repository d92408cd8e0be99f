// "run": an earlier row of the run about the same contact, sent or skipped, that refuses.
import { type BulkOptions, type BulkRows, type V1Contact, type Write, write } from "audience-sdk";
import type { MockFaultKind } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { createFixture, v2Contact } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";
import { addresses, contact, endOf, peopleOf } from "./people.ts";

const { v1, v2 } = write;
const { email } = addresses["ada"]!;

interface Item {
  readonly key: string;
  readonly write: Write | readonly Write[];
}

/** A row `a`, `b` and so on. */
const upserts = (...rows: string[]): Item[] =>
  rows.map((signs, index) => ({ key: "abcdef"[index]!, write: upsert(contact(signs)) }));
const upsert = (fields: V1Contact) => v1.customers.upsert(fields);

type World = ReturnType<typeof createFixture>;

/** How the rows of a night ended, by index. */
async function ends(
  { audience }: World,
  rows: BulkRows<Item>,
  options: BulkOptions<Item> = {},
): Promise<string[]> {
  const all: string[] = [];
  const run = audience.bulk(rows, (item) => item.write, { key: ({ key }) => key, ...options });
  for await (const result of run) all[result.index] = endOf(result);
  return all;
}

async function* stream(...items: Item[]): AsyncGenerator<Item> {
  yield* items;
}

describe("Of two rows with one address, one that refuses and one that subscribes, the refusal stands", () => {
  it("also where the first is in doubt and must not be sent again, as it may have been", async () => {
    const world = createFixture({ faults: [{ kind: "reset-after", times: 1 }] }, { maxRetries: 0 });
    const checkpoint = new MemoryCheckpoint();
    const body = contact("-+");
    const refusal = v1.request({ method: "POST", path: "/api/v1/customer/create", body: { ...body } });
    const rows = [{ key: "a", write: refusal }, ...upserts("+", "+").slice(1)];

    const first = await ends(world, rows.slice(0, 1), { checkpoint });
    const second = await ends(world, rows, { checkpoint });

    expect([first, second]).toEqual([["unknown"], ["unknown", "succeeded email:run"]]);
    expect(world.mock.organization("mock-organization").contacts).toMatchObject([
      { email_opt_in: "UNSUBSCRIBED" },
    ]);
  });

  it.each([
    ["whichever comes first", upserts("+", "-"), ["succeeded email:run", "succeeded"]],
    ["and the subscription keeps it", upserts("-", "+"), ["succeeded", "succeeded email:run"]],
    [
      "over any number of rows",
      upserts("-", "+", "0", "+"),
      ["succeeded", ...Array<string>(3).fill("succeeded email:run")],
    ],
    [
      "channel by channel",
      upserts("-+", "+-", "++"),
      ["succeeded", "succeeded email:run", "succeeded email:run phone:run"],
    ],
  ])("%s: unchanged, both are skipped with the same kept", async (_, rows, expected) => {
    const world = createFixture();
    const checkpoint = new MemoryCheckpoint();

    const nights = [await ends(world, rows, { checkpoint }), await ends(world, rows, { checkpoint })];

    const skipped = expected.map((end) => end.replace("succeeded", "skipped"));
    expect(nights).toEqual([expected, skipped]);
    expect(world.mock.resubscriptions).toEqual([]);
    expect(peopleOf(world.mock)).toMatch(/^ada:-/);
  });

  it("with one key, too", async () => {
    const world = createFixture();
    const checkpoint = new MemoryCheckpoint();
    const rows = upserts("-", "+").map((row) => ({ ...row, key: "ada" }));

    for (let night = 1; night <= 2; night++)
      expect(await ends(world, rows, { checkpoint })).toEqual(["succeeded", "succeeded email:run"]);
    expect(peopleOf(world.mock)).toBe("ada:-");
  });
});

describe("A row is held to the refusal of an earlier one", () => {
  it.each<[string, earlier: Item["write"], row: Write, end: string]>([
    [
      "of the other family",
      v2.contacts.upsert(v2Contact(email, "unsubscribed")),
      upsert(contact("+")),
      "succeeded email:run",
    ],
    [
      "that writes the address otherwise",
      upsert({ email: ` ADA@Example.com`.trim(), email_opt_in: "UNSUBSCRIBED" }),
      upsert(contact("+")),
      "succeeded email:run",
    ],
    [
      "in its second write",
      [v1.events.send({ eventName: "left", contact: { email } }), upsert(contact("-"))],
      upsert(contact("+")),
      "succeeded email:run",
    ],
    ["not of another person", upsert(contact("-", "bob")), upsert(contact("+")), "succeeded"],
  ])("%s", async (_, earlier, row, end) => {
    const world = createFixture();
    const rows = stream({ key: "a", write: earlier }, { key: "b", write: row });

    expect(await ends(world, rows)).toEqual(["succeeded", end]);
    expect(world.mock.resubscriptions).toEqual([]);
  });

  it.each<[string, "succeeded" | "succeeded email:run", { fault?: MockFaultKind; isOld?: boolean }]>([
    ["that was skipped", "succeeded email:run", {}],
    ["that may have been sent", "succeeded email:run", { fault: "reset-after" }],
    ["not where it surely was not sent", "succeeded", { fault: "redirect" }],
    ["not where it is superseded", "succeeded", { isOld: true }],
  ])("%s", async (how, end, { fault, isOld }) => {
    const world = createFixture({}, { maxRetries: 0 });
    const options = {
      checkpoint: new MemoryCheckpoint(),
      concurrency: 1,
      checkConsent: false,
      isCurrent: ({ key }: Item) => !(isOld && key === "a"),
    };
    if (how === "that was skipped") await ends(world, upserts("-"), options);
    if (fault) world.mock.addFault({ kind: fault, operation: "v1.customers.upsert", times: 1 });

    const all = await ends(world, stream(...upserts("-", "+")), options);

    expect(all[1]).toBe(end);
    expect(peopleOf(world.mock)).toBe(end === "succeeded" ? "ada:+" : "ada:-");
  });

  it("whatever a call of the process says after it", async () => {
    const world = createFixture();
    async function* rows() {
      yield* upserts("-");
      await world.audience.v1.customers.upsert({ email, email_opt_in: "SUBSCRIBED" });
      yield { key: "b", write: upsert(contact("+")) };
    }

    expect(await ends(world, rows(), { concurrency: 1 })).toEqual(["succeeded", "succeeded email:run"]);
  });
});

describe("A second row with a known key is looked up as the first one is, and subscribes nobody who left", () => {
  const sent = "succeeded email:service";
  it.each([
    ["behind one that is sent", {}, [sent, sent]],
    ["behind one that is superseded", { isCurrent: firstIsOld() }, ["superseded:not-current", sent]],
  ])("%s", async (_, options: BulkOptions<Item>, expected) => {
    const world = createFixture();
    const checkpoint = new MemoryCheckpoint();
    const night = (city: string) =>
      ["1", "2"].map((first_name) => ({ key: "ada", write: upsert({ ...contact("++"), city, first_name }) }));
    await ends(world, night("Rome"), { checkpoint });
    world.mock.unsubscribe(email);

    expect(await ends(world, night("Oslo"), { checkpoint, ...options })).toEqual(expected);
    expect(world.mock.resubscriptions).toEqual([]);
  });
});

function firstIsOld() {
  let asked = 0;
  return () => ++asked > 1;
}
