import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ConfigurationError, type BulkOptions, type BulkRequest } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  collectRun,
  flushEventLoop,
  LoggedCheckpoint,
  row,
  rows,
  createFixture,
  type Row,
  key,
} from "./fixture.ts";

let folder = "";
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "delta-"))));
afterAll(() => rm(folder, { recursive: true }));

const bodies = (mock: ReturnType<typeof createFixture>["mock"]) => mock.requests.map(({ body }) => body);

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
    const options = { key: ({ id }: { id: string }) => id, checkpoint: new LoggedCheckpoint() };
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
      checkpoint: new LoggedCheckpoint(),
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
        audience.bulk(rows(1), upsert, { key, fingerprint, checkpoint: new LoggedCheckpoint() }),
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
      audience.bulk(items, upsert, { key, checkpoint: new LoggedCheckpoint() }),
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
    const options = { key, checkpoint: new LoggedCheckpoint() };
    const bad = { ...row(0), first_name: "x".repeat(101) };
    await night({ mock, ...world }, [row(0)], options);

    const nights = [];
    for (const item of [bad, bad, row(0)]) nights.push(...(await night({ mock, ...world }, [item], options)));

    expect(nights).toEqual(["invalid", "invalid", "skipped"]);
    expect(mock.requests).toHaveLength(1);
  });

  it("a changed row whose outcome is unknown is sent again, also when it changed back", async () => {
    const world = createFixture({ faults: [{ kind: "reset-after", times: 1, after: 1 }] }, { maxRetries: 0 });
    const options = { key, checkpoint: new LoggedCheckpoint() };
    const [a, b] = [row(0), { ...row(0), email_opt_in: "UNSUBSCRIBED" } as const];

    const nights = [];
    for (const item of [a, b, a]) nights.push(...(await night(world, [item], options)));

    expect(nights).toEqual(["succeeded", "unknown", "succeeded"]);
    expect(world.mock.organization("mock-organization").contacts).toMatchObject([
      { email_opt_in: "SUBSCRIBED" },
    ]);
  });

  it("a row in doubt stays in doubt, whatever its content, while its call is not repeatable", async () => {
    const world = createFixture({ faults: [{ kind: "reset-after", times: 1, after: 1 }] });
    const options = { key, checkpoint: new LoggedCheckpoint() };
    const call = (item: Row, request: BulkRequest) =>
      world.audience.v1.customers.upsert({ ...item, double_opt_in: true }, request);
    const [a, b] = [row(0), { ...row(0), email_opt_in: "NON_SUBSCRIBED" } as const];

    const nights = [];
    for (const item of [a, b, b, a]) nights.push(...(await night(world, [item], options, call)));

    expect(nights).toEqual(["succeeded", "unknown", "unknown", "unknown"]);
    expect(world.mock.requests).toHaveLength(2);
  });
});

describe("Rows with the same key in one run", () => {
  const first = row(0);
  const last = { ...row(0), email_opt_in: "UNSUBSCRIBED" } as const;

  it("are sent in order, and the next run skips both", async () => {
    const world = createFixture();
    const options = { key, checkpoint: new LoggedCheckpoint() };

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
      const options = { key, checkpoint: new LoggedCheckpoint(), concurrency: 1 };

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

  it("the last row is skipped while the service refuses the first every night", async () => {
    const world = createFixture();
    const options = { key, checkpoint: new LoggedCheckpoint() };
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
    const options = { key, checkpoint: new LoggedCheckpoint() };
    const bad = { ...first, first_name: "x".repeat(101) };

    const nights = [await night(world, [bad, last], options), await night(world, [bad, last], options)];

    expect(nights).toEqual([
      ["invalid", "succeeded"],
      ["invalid", "skipped"],
    ]);
  });

  it("the rows after a changed row are sent again, so that the service holds the last one", async () => {
    const world = createFixture();
    const options = { key, checkpoint: new LoggedCheckpoint() };
    await night(world, [first, last], options);

    const statuses = await night(world, [{ ...first, first_name: "Ada" }, last], options);

    expect(statuses).toEqual(["succeeded", "succeeded"]);
    expect(world.mock.organization("mock-organization").contacts).toMatchObject([
      { email_opt_in: "UNSUBSCRIBED", first_name: "Ada" },
    ]);
  });

  it("and also where the changed row takes its time before its call", async () => {
    const world = createFixture();
    const options = { key, checkpoint: new LoggedCheckpoint() };
    await night(world, [first, last], options);

    const statuses = await night(
      world,
      [{ ...first, first_name: "Ada" }, last],
      options,
      async (item, request) => {
        await sleep(20);
        await world.upsert(item, request);
      },
    );

    expect(statuses).toEqual(["succeeded", "succeeded"]);
    expect(world.mock.organization("mock-organization").contacts).toMatchObject([
      { email_opt_in: "UNSUBSCRIBED" },
    ]);
  });
});

it("A row with the key of one in progress waits for its end, which decides whether it is sent again", async () => {
  const { audience, mock, upsert } = createFixture();
  const options = { key, checkpoint: new LoggedCheckpoint() };
  await audience.bulk([row(0), row(0)], upsert, options);
  const changed = { ...row(0), first_name: "Ada" };
  const isCurrent = async (item: object) => {
    // The first is not recorded as sent yet.
    if (item === changed) await flushEventLoop();
    return true;
  };

  const { results } = await collectRun(audience.bulk([changed, row(0)], upsert, { ...options, isCurrent }));

  expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
  expect(mock.requests.slice(2).map(({ body }) => body)).toEqual([changed, row(0)]);
});

describe("An event without an id of its own", () => {
  const send =
    ({ audience }: ReturnType<typeof createFixture>) =>
    (item: { id: string; total: number }, request: BulkRequest) =>
      audience.v1.events.send(
        { eventName: "ordered", contact: { email: row(0).email }, eventData: { total: item.total } },
        request,
      );
  const byId = ({ id }: { id: string }) => id;

  it("gets a new id after each change of its row, and is recorded each time", async () => {
    const world = createFixture();
    const options = { key: byId, checkpoint: new LoggedCheckpoint() };

    for (const total of [1, 2, 1, 2]) await night(world, [{ id: "a", total }], options, send(world));

    const { events } = world.mock.organization("mock-organization");
    expect(events.map(({ eventData }) => eventData?.["total"])).toEqual([1, 2, 1, 2]);
    expect(new Set(events.map(({ uniqueIdentifier }) => uniqueIdentifier)).size).toBe(4);
  });

  it("has the same id after a kill, and is recorded once", async () => {
    const world = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const options = { key: byId, checkpoint };
    await night(world, [{ id: "a", total: 1 }], options, send(world));
    const before = new Map(checkpoint.values);
    await night(world, [{ id: "a", total: 2 }], options, send(world));
    // As if the process had been killed before it recorded the row's outcome.
    const run = checkpoint.values.get("run");
    checkpoint.values.clear();
    for (const [name, value] of before) checkpoint.values.set(name, value);
    checkpoint.values.set("run", run!);

    const statuses = await night(world, [{ id: "a", total: 2 }], options, send(world));

    expect(statuses).toEqual(["succeeded"]);
    expect(world.mock.requests).toHaveLength(3);
    expect(world.mock.organization("mock-organization").events).toHaveLength(2);
  });

  it("is a new event where the row changes again after a kill", async () => {
    const world = createFixture({ faults: [{ kind: "reset-after", times: 1, after: 1 }] }, { maxRetries: 0 });
    const options = { key: byId, checkpoint: new LoggedCheckpoint() };

    for (const total of [1, 2, 3, 2]) await night(world, [{ id: "a", total }], options, send(world));

    const { events } = world.mock.organization("mock-organization");
    expect(events.map(({ eventData }) => eventData?.["total"])).toEqual([1, 2, 3, 2]);
  });
});

describe("Without a key a checkpoint belongs to one run", () => {
  it("after a complete run, the next run sends every row", async () => {
    const world = createFixture();
    const options = { checkpoint: fileCheckpoint(join(folder, "keyless")) };
    const [a, b] = [row(0), { ...row(0), email_opt_in: "UNSUBSCRIBED" } as const];

    for (const item of [a, b, a]) await night(world, [item], options);

    expect(bodies(world.mock)).toEqual([a, b, a]);
    expect(await readFile(join(folder, "keyless"), "utf8")).toBe("audience-checkpoint 2\n");
  });

  it("after an abort, the next run resumes", async () => {
    const { audience, mock, upsert } = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const stop = new AbortController();
    const first = audience.bulk(rows(5), upsert, { checkpoint, concurrency: 1, signal: stop.signal });
    for await (const { index } of first) if (index === 1) break;

    const second = await audience.bulk(rows(5), upsert, { checkpoint });

    expect(second.skipped).toBeGreaterThanOrEqual(2);
    expect(second.skipped + second.succeeded).toBe(5);
    expect(new Set(bodies(mock).map((body) => (body as Row).email)).size).toBe(5);
    expect(mock.requests).toHaveLength(5);
    expect(checkpoint.values.size).toBe(0);
  });

  it("a run with a failed row is complete", async () => {
    const { audience, upsert } = createFixture(
      { faults: [{ kind: "500-before", times: 1 }] },
      { maxRetries: 0 },
    );
    const checkpoint = new LoggedCheckpoint();

    const summary = await audience.bulk(rows(2), upsert, { checkpoint });

    expect(summary).toMatchObject({ succeeded: 1, unknown: 1 });
    expect(checkpoint.log.slice(-2)).toEqual(["clear", "close"]);
  });

  it.each([
    [
      "with a `key`",
      "without one",
      { key },
      {},
      "The checkpoint was written with a `key`. Run it with a `key` again",
    ],
    [
      "without a `key`",
      "with one",
      {},
      { key },
      "The checkpoint was written without a `key`. Run it without a `key` again",
    ],
  ])("a checkpoint that was written %s is refused %s", async (_, __, before, after, message) => {
    const { audience, mock, upsert } = createFixture();
    const checkpoint = new LoggedCheckpoint();
    for await (const first of audience.bulk(rows(3), upsert, { checkpoint, concurrency: 1, ...before }))
      if (first.status === "succeeded") break;
    const sent = mock.requests.length;
    const kept = new Map(checkpoint.values);

    const { error } = await collectRun(audience.bulk(rows(3), upsert, { checkpoint, ...after }));

    expect(error).toEqual(new ConfigurationError(`${message}, or name another checkpoint.`));
    expect(mock.requests).toHaveLength(sent);
    expect([checkpoint.values, checkpoint.log.at(-1)]).toEqual([kept, "close"]);
  });
});

describe("The file's version", () => {
  it("a file of the old format is refused with the remedy, and left unchanged", async () => {
    const path = join(folder, "old");
    const old = "audience-checkpoint 1 01234567-89ab-cdef-0123-456789abcdef\nAAAAAAAAAAAAAAAAs\n";
    await writeFile(path, old);
    const { audience, mock, upsert } = createFixture();

    const { error } = await collectRun(
      audience.bulk(rows(1), upsert, { key, checkpoint: fileCheckpoint(path) }),
    );

    expect(String(error)).toContain(
      "is a checkpoint of another version (format 1, this one reads 2), and is left unchanged. End its run with the " +
        "version of audience-sdk that wrote it, or name another file: then every row is sent once.",
    );
    expect(await readFile(path, "utf8")).toBe(old);
    expect(mock.requests).toEqual([]);
  });

  it("the old version refuses a file of the new format", async () => {
    const path = join(folder, "new");
    await night(createFixture(), rows(2), { key, checkpoint: fileCheckpoint(path) });

    const text = await readFile(path, "utf8");

    // The old version required this heading, or a torn part of it.
    expect(text).not.toMatch(/^audience-checkpoint 1 [0-9a-f-]{36}\n/);
    expect(text.length).toBeGreaterThan(
      "audience-checkpoint 1 01234567-89ab-cdef-0123-456789abcdef\n".length,
    );
    expect(text).toMatch(/^audience-checkpoint 2\n(\["[\w-]{16}",".*"\]\n)+$/);
    expect(text).not.toContain("example.com");
  });
});

const damagedRun =
  "The checkpoint's record of its run (`run`) is damaged, or of an earlier version that named no service. Restore " +
  "it, or end its run with the version that wrote it. Another checkpoint sends every row, and knows none of the " +
  "consents that this one keeps from being overridden.";

it.each([
  ["run", "null", damagedRun],
  ["run", "no JSON", damagedRun],
  // As before it named its service.
  ["run", '{"id":"a","number":1,"since":1,"isKeyed":true}', damagedRun],
  ["row:row-0@example.com", "sent yesterday", "The checkpoint holds no valid record of a row under `row:`."],
])("A checkpoint whose `%s` holds %o ends the run before anything is sent", async (name, value, message) => {
  const { audience, mock, upsert } = createFixture();
  const checkpoint = new LoggedCheckpoint();
  checkpoint.values.set(name, value);

  const { error } = await collectRun(audience.bulk(rows(1), upsert, { key, checkpoint }));

  expect(error).toEqual(new ConfigurationError(message));
  expect(mock.requests).toEqual([]);
});
