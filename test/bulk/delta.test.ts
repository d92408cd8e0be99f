import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { BulkOptions, BulkRequest } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { collectRun, flushEventLoop, row, rows, createFixture, type Row, key } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

let folder = "";
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "delta-"))));
afterAll(() => rm(folder, { recursive: true }));

/** What was written; a changed row may be looked up before. */
const bodies = (mock: ReturnType<typeof createFixture>["mock"]) =>
  mock.requests.filter(({ method }) => method === "POST").map(({ body }) => body);

/** A night: a run of the rows over the checkpoint. Returns the status of each row, in the order of the rows. */
async function night<R>(
  { audience, upsert }: ReturnType<typeof createFixture>,
  items: readonly R[],
  options: BulkOptions<R>,
  call: (item: R, request: BulkRequest) => Promise<unknown> = (item, request) => upsert(item as Row, request),
) {
  const { results, error } = await collectRun(audience.bulk(items, call, options));
  expect(error).toBeUndefined();
  return results.toSorted((a, b) => a.index - b.index).map(({ status }) => status);
}

describe("With a key and a checkpoint, a later run sends new and changed rows only", () => {
  it("an unchanged row is skipped, a changed row and a new row are sent", async () => {
    const world = createFixture();
    const options = { key, checkpoint: fileCheckpoint(join(folder, "changed")) };
    await night(world, rows(3), options);
    world.mock.reset();

    const statuses = await night(
      world,
      [row(0), { ...row(1), email_opt_in: "UNSUBSCRIBED" } as const, row(2), row(3)],
      options,
    );

    expect(statuses).toEqual(["skipped", "succeeded", "skipped", "succeeded"]);
    expect(bodies(world.mock)).toEqual([{ ...row(1), email_opt_in: "UNSUBSCRIBED" }, row(3)]);
  });

  it("a row that changes back is sent", async () => {
    const world = createFixture();
    const options = { key, checkpoint: fileCheckpoint(join(folder, "back")) };
    const [a, b] = [row(0), { ...row(0), email_opt_in: "UNSUBSCRIBED" } as const];

    const nights = [];
    for (const item of [a, b, b, a, a, b]) nights.push(...(await night(world, [item], options)));

    expect(nights).toEqual(["succeeded", "succeeded", "skipped", "succeeded", "skipped", "succeeded"]);
    expect(bodies(world.mock)).toEqual([a, b, a, b]);
  });

  it("another order of keys is no change, at any depth; another order of array items is a change", async () => {
    const world = createFixture();
    const options = { key: ({ id }: { id: string }) => id, checkpoint: new MemoryCheckpoint() };
    const call = (_: unknown, request: BulkRequest) => world.upsert(row(0), request);
    await night(world, [{ id: "1", a: { b: 1, c: [1, 2] }, d: 2 }], options, call);

    const again = await night(world, [{ d: 2, a: { c: [1, 2], b: 1 }, id: "1" }], options, call);
    const turned = await night(world, [{ id: "1", a: { b: 1, c: [2, 1] }, d: 2 }], options, call);

    expect([again, turned]).toEqual([["skipped"], ["succeeded"]]);
  });

  it("`fingerprint` decides which changes count", async () => {
    const world = createFixture();
    const options = {
      key,
      fingerprint: ({ email, email_opt_in }: Row & { seenAt: number }) => ({ email, email_opt_in }),
      checkpoint: new MemoryCheckpoint(),
    };
    const call = ({ email, email_opt_in }: Row, request: BulkRequest) =>
      world.upsert({ email, email_opt_in }, request);

    const nights = [];
    for (const item of [
      { ...row(0), seenAt: 1 },
      { ...row(0), seenAt: 2 },
      { ...row(0), email_opt_in: "UNSUBSCRIBED" as const, seenAt: 2 },
    ])
      nights.push(...(await night(world, [item], options, call)));

    expect(nights).toEqual(["succeeded", "skipped", "succeeded"]);
  });

  it.each([
    ["undefined", () => undefined, "the result of `fingerprint` cannot be written as JSON (it is undefined)"],
    ["a Map", () => new Map(), "the result of `fingerprint` cannot be written as JSON (it holds a Map)"],
  ])(
    "a fingerprint that returns %s makes its row invalid, and nothing is sent",
    async (_, fingerprint, message) => {
      const { audience, mock, upsert } = createFixture();

      const { results } = await collectRun(
        audience.bulk(rows(1), upsert, { key, fingerprint, checkpoint: new MemoryCheckpoint() }),
      );

      expect(results).toMatchObject([
        {
          status: "invalid",
          error: { issues: [{ message: `${message}: return a string or a JSON value` }] },
        },
      ]);
      expect(mock.requests).toEqual([]);
    },
  );

  it("a row that JSON cannot represent is invalid, because its changes could not be detected", async () => {
    const { audience, mock, upsert } = createFixture();
    const items = [{ ...row(0), tags: new Set(["a"]) }];

    const { results } = await collectRun(
      audience.bulk(items, upsert, { key, checkpoint: new MemoryCheckpoint() }),
    );

    expect(results).toMatchObject([
      {
        status: "invalid",
        error: {
          issues: [
            {
              path: [],
              message: "the row cannot be written as JSON (it holds a Set): give a `fingerprint`",
            },
          ],
        },
      },
    ]);
    expect(mock.requests).toEqual([]);
  });

  it("a changed row that was refused is sent again, and a row that changed back is not", async () => {
    const { mock, ...world } = createFixture();
    const options = { key, checkpoint: new MemoryCheckpoint() };
    const bad = { ...row(0), first_name: "x".repeat(101) };
    await night({ mock, ...world }, [row(0)], options);

    const nights = [];
    for (const item of [bad, bad, row(0)]) nights.push(...(await night({ mock, ...world }, [item], options)));

    expect(nights).toEqual(["invalid", "invalid", "skipped"]);
    expect(mock.requests).toHaveLength(1);
  });

  it("a changed row whose outcome is unknown is sent again, also when it changed back", async () => {
    const world = createFixture({ faults: [{ kind: "reset-after", times: 1, after: 1 }] }, { maxRetries: 0 });
    const options = { key, checkpoint: new MemoryCheckpoint() };
    const [a, b] = [row(0), { ...row(0), email_opt_in: "UNSUBSCRIBED" } as const];

    const nights = [];
    for (const item of [a, b, a]) nights.push(...(await night(world, [item], options)));

    expect(nights).toEqual(["succeeded", "unknown", "succeeded"]);
    expect(world.mock.organization("mock-organization").contacts).toMatchObject([
      { email_opt_in: "SUBSCRIBED" },
    ]);
  });
});

describe("Rows with the same key in one run", () => {
  const first = row(0);
  const last = { ...row(0), email_opt_in: "UNSUBSCRIBED" } as const;

  it("are sent in order, and the next run skips both", async () => {
    const world = createFixture();
    const options = { key, checkpoint: new MemoryCheckpoint() };

    const nights = [await night(world, [first, last], options), await night(world, [first, last], options)];

    expect(nights).toEqual([
      ["succeeded", "succeeded"],
      ["skipped", "skipped"],
    ]);
    expect(bodies(world.mock)).toEqual([first, last]);
  });

  it.each([
    ["was refused", [{ kind: "500-before", times: 1 }]],
    ["may have been carried out", [{ kind: "reset-after", times: 1 }]],
  ] as const)(
    "the last row is sent again after the first, when the first %s and is sent the next night",
    async (_, faults) => {
      const world = createFixture({ faults: [...faults] }, { maxRetries: 0 });
      const options = { key, checkpoint: new MemoryCheckpoint(), concurrency: 1 };

      const nights = [await night(world, [first, last], options), await night(world, [first, last], options)];

      expect(nights).toEqual([
        ["unknown", "succeeded"],
        ["succeeded", "succeeded"],
      ]);
      expect(world.mock.organization("mock-organization").contacts).toMatchObject([
        { email_opt_in: "UNSUBSCRIBED" },
      ]);
    },
  );

  it("the last of three is sent again where the one before it has changed, so that the service holds the last one", async () => {
    const world = createFixture();
    const options = { key, checkpoint: new MemoryCheckpoint() };
    const named = (first_name: string) => ({ ...row(0), first_name });
    await night(world, [named("Ada"), named("Bob"), named("Cy")], options);

    const statuses = await night(world, [named("Ada"), named("Bo"), named("Cy")], options);

    expect(statuses).toEqual(["skipped", "succeeded", "succeeded"]);
    expect(world.mock.organization("mock-organization").contacts).toMatchObject([{ first_name: "Cy" }]);
  });

  it("the last row is skipped while the service refuses the first every night", async () => {
    const world = createFixture();
    const options = { key, checkpoint: new MemoryCheckpoint() };
    const refusing = world.audience.withOptions({
      fetch: (url, init) =>
        world.mock.fetch(
          JSON.stringify(init.body).includes("UNSUBSCRIBED")
            ? url
            : url.replace("customer/create", "nowhere"),
          init,
        ),
    });
    const call = (item: Row, request: BulkRequest) => refusing.v1.customers.upsert(item, request);

    const nights = [
      await night(world, [first, last], options, call),
      await night(world, [first, last], options, call),
    ];

    expect(nights).toEqual([
      ["failed", "succeeded"],
      ["failed", "skipped"],
    ]);
  });

  it("the last row is skipped while the first is invalid every night", async () => {
    const world = createFixture();
    const options = { key, checkpoint: new MemoryCheckpoint() };
    const bad = { ...first, first_name: "x".repeat(101) };

    const nights = [await night(world, [bad, last], options), await night(world, [bad, last], options)];

    expect(nights).toEqual([
      ["invalid", "succeeded"],
      ["invalid", "skipped"],
    ]);
  });

  it.each([
    ["", async () => undefined],
    [", and also where the changed row takes its time before its call", () => sleep(20)],
  ])(
    "the rows after a changed row are sent again, so that the service holds the last one%s",
    async (_, wait) => {
      const world = createFixture();
      const options = { key, checkpoint: new MemoryCheckpoint() };
      const before = { ...row(0), email_opt_in: "NON_SUBSCRIBED" } as const;
      await night(world, [before, row(0)], options);

      const statuses = await night(
        world,
        [{ ...before, first_name: "Ada" }, row(0)],
        options,
        async (item, request) => {
          await wait();
          await world.upsert(item, request);
        },
      );

      expect(statuses).toEqual(["succeeded", "succeeded"]);
      expect(world.mock.organization("mock-organization").contacts).toMatchObject([
        { email_opt_in: "SUBSCRIBED", first_name: "Ada" },
      ]);
    },
  );
});

it("A row with the key of one in progress waits for its end, which decides whether it is sent again", async () => {
  const { audience, mock, upsert } = createFixture();
  const options = { key, checkpoint: new MemoryCheckpoint() };
  await audience.bulk([row(0), row(0)], upsert, options);
  const changed = { ...row(0), first_name: "Ada" };
  const isCurrent = async (item: object) => {
    // The first is not recorded as sent yet.
    if (item === changed) await flushEventLoop();
    return true;
  };

  const { results } = await collectRun(audience.bulk([changed, row(0)], upsert, { ...options, isCurrent }));

  expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
  expect(bodies(mock).slice(2)).toEqual([changed, row(0)]);
});
