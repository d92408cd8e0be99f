// `isCurrent(row)`: what the user's own table says, asked before each attempt, its answer at most a second old.
import { type BulkOptions, ConfigurationError, RateLimiter, type Write, write } from "audience-sdk";
import { beforeEach, describe, expect, it } from "vitest";
import {
  collectRun,
  createFixture,
  key,
  passUntilSettled,
  row,
  rows,
  type Row,
  until,
  upsert,
  useFakeTime,
} from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";
import { endOf } from "./people.ts";

type World = ReturnType<typeof createFixture>;
const notCurrent = "superseded:not-current";

async function run(
  { audience }: World,
  items: readonly Row[],
  options: BulkOptions<Row>,
  toWrite: (item: Row) => Write | Write[] = upsert,
) {
  const { results, error } = await collectRun(audience.bulk(items, toWrite, { key, ...options }));
  return { results, error, ends: results.map(endOf) };
}

const imported = ({ email }: Row) => write.v1.events.send({ eventName: "imported", contact: { email } });

/** Answers in turn. */
const answers =
  (...given: boolean[]) =>
  () =>
    given.shift()!;

describe("A row of which isCurrent says false is superseded", () => {
  it("and not sent, opt-outs too, which its error names; the run goes on", async () => {
    const world = createFixture();
    const items: Row[] = [row(0), { ...row(1), email_opt_in: "UNSUBSCRIBED" }, row(2)];
    const isCurrent = ({ email }: Row) => email === row(0).email;

    const { ends, error, results } = await run(world, items, { isCurrent, stopWhen: () => true });

    expect([error, ends.toSorted()]).toEqual([undefined, ["succeeded", notCurrent, notCurrent]]);
    const message = "isCurrent returned false: the row was not sent, or not sent again.";
    expect(results.find(({ index }) => index === 2)?.error).toMatchObject({
      code: "aborted",
      outcome: "not-sent",
      message,
    });
    expect(results.find(({ index }) => index === 1)?.error).toMatchObject({
      message: `${message} Nor was its opt-out of email.`,
    });
    expect(world.emails()).toEqual([row(0).email]);
  });

  it.each([
    ["a requeue after a 429", { kind: "429", times: 1, retryAfter: 0.01 }, notCurrent, "not-applied"],
    ["a retry, and unknown after a 500", { kind: "500-before", times: 1 }, "unknown", "unknown"],
    ["a retry, and unknown after a lost response", { kind: "reset-after", times: 1 }, "unknown", "unknown"],
  ] as const)("also before %s, with the outcome of its attempts", async (_, fault, end, outcome) => {
    const world = createFixture({ faults: [fault] });

    const { ends, results } = await run(world, rows(1), { isCurrent: answers(true, false) });

    expect([ends, world.mock.requests.length]).toEqual([[end], 1]);
    expect(results[0]!.error).toHaveProperty("outcome", outcome);
  });

  it.each([
    [true, { status: "superseded", reason: "not-current", error: { outcome: "applied" } }],
    [false, { status: "unknown", error: { code: "aborted", outcome: "unknown" } }],
  ])("also before its second write, where the first may be repeated: %s", async (repeatable, result) => {
    const world = createFixture();
    const both = (item: Row) => [write.v1.customers.upsert(item, { repeatable }), imported(item)];

    const { results } = await run(world, rows(1), { isCurrent: answers(true, false) }, both);

    expect(results).toMatchObject([result]);
    expect(world.mock.organization("mock-organization").events).toEqual([]);
  });

  it("also before its second write, and names no opt-out that its first one was", async () => {
    const world = createFixture();
    const both = (item: Row) => [
      write.v1.customers.upsert({ ...item, email_opt_in: "UNSUBSCRIBED" }),
      write.v1.customers.upsert({ email: item.email, email_opt_in: "SUBSCRIBED", first_name: "Ada" }),
    ];

    const { results } = await run(world, rows(1), { isCurrent: answers(true, false) }, both);

    const message = "isCurrent returned false: the row was not sent, or not sent again.";
    expect(results).toMatchObject([{ status: "superseded", error: { outcome: "applied", message } }]);
  });

  it("also before a retry of its second write, which nobody knows to be done: so is the row", async () => {
    const world = createFixture({
      faults: [{ kind: "reset-before", operation: "v1.events.send", times: 1 }],
    });
    const both = (item: Row) => [upsert(item), imported(item)];

    const { results } = await run(world, rows(1), { isCurrent: answers(true, true, false) }, both);

    expect(results).toMatchObject([{ status: "unknown", error: { code: "aborted", outcome: "unknown" } }]);
  });
});

describe("An isCurrent", () => {
  it("that throws ends its row with its error: it is not sent, and the next run tries it again", async () => {
    const world = createFixture();
    const checkpoint = new MemoryCheckpoint();
    const failure = new TypeError("the database is away");

    const { results, error } = await run(world, rows(1), {
      checkpoint,
      isCurrent: () => Promise.reject(failure),
    });

    expect(error).toBeUndefined();
    expect(results).toMatchObject([{ status: "failed", error: failure }]);
    expect(world.mock.requests).toEqual([]);
    expect((await run(world, rows(1), { checkpoint })).ends).toEqual(["succeeded"]);
  });

  it.each(["500-before", "429"] as const)("whose own call fails with a %s is asked once", async (kind) => {
    const world = createFixture({
      faults: [{ kind, operation: "v1.contactGroups.get", retryAfter: 0, times: 99 }],
    });
    const isCurrent = async () => {
      await world.audience.v1.contactGroups.get("mock-list", { maxRetries: 0 });
      return true;
    };

    const { results } = await run(world, rows(1), { isCurrent });

    expect(results).toMatchObject([
      { status: "failed", error: { request: { operation: "v1.contactGroups.get" } } },
    ]);
    expect(world.mock.requests).toHaveLength(1);
  });

  it.each([
    ["undefined", undefined],
    ["a number", 1],
  ])("that returns %s ends the run, and is named", async (what, given) => {
    const world = createFixture();

    const { error } = await run(world, rows(3), { isCurrent: () => given as never, concurrency: 1 });

    expect(error).toBeInstanceOf(ConfigurationError);
    expect(String(error)).toContain(`isCurrent must return true or false, not ${what}.`);
    expect(world.mock.requests).toEqual([]);
  });

  it("that never settles holds up neither the end of the run, nor its contact after it, nor the row after a crash", async () => {
    const world = createFixture();
    const stop = new AbortController();
    let isAsked = false;
    const isCurrent = () => new Promise<boolean>(() => (isAsked = true));
    const checkpoint = new MemoryCheckpoint();
    const ended = run(world, rows(1), { checkpoint, isCurrent, signal: stop.signal });
    await until(() => isAsked);
    const left = checkpoint.copy();
    stop.abort();

    expect(await ended).toMatchObject({ results: [], error: { code: "aborted", outcome: "not-sent" } });
    await world.audience.v1.customers.upsert({ ...row(0), email_opt_in: "UNSUBSCRIBED" });
    expect(world.mock.requests).toHaveLength(1);
    expect((await run(world, rows(1), { checkpoint: left, isCurrent: () => false })).ends).toEqual([
      notCurrent,
    ]);
  });

  it("that asks the service gets a permit, though its row holds the only one", async () => {
    await useFakeTime();
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 100 }], reserve: 0 });
    const world = createFixture({}, { rateLimiter });
    let asked = 0;
    const isCurrent = async () => {
      // At first the row waits for its permit.
      if (++asked > 1) await world.audience.v1.contactGroups.get("mock-list");
      return true;
    };

    const { ends } = await passUntilSettled(run(world, rows(3), { isCurrent }));
    expect(ends).toEqual(["succeeded", "succeeded", "succeeded"]);
  });
});

describe("The answer of isCurrent is at most a second old when the row is sent", () => {
  beforeEach(useFakeTime);

  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  it.each<[string, number, Parameters<typeof createFixture>]>([
    ["also of a retry", 1, [{ faults: [{ kind: "500-before", times: 2 }] }]],
    ["also of a requeue after a 429", 1, [{ faults: [{ kind: "429", times: 2, retryAfter: 3 }] }]],
    [
      "also if it waits for permits",
      15,
      [
        {},
        {
          rateLimiter: {
            windows: [
              { limit: 1, intervalMs: 1_500 },
              { limit: 10, intervalMs: 60_000 },
            ],
            reserve: 0,
          },
        },
      ],
    ],
  ])("%s", async (_, count, args) => {
    const world = createFixture(...args);
    const asked = new Map<string, number>();
    const ages: number[] = [];
    const audience = world.audience.withOptions({
      fetch: async (url, init) => {
        const { email } = JSON.parse(init.body as string) as Row; // Safe: the row's
        ages.push(performance.now() - asked.get(email)!);
        return await world.mock.fetch(url, init);
      },
    });
    const isCurrent = async ({ email }: Row) => {
      const now = performance.now();
      await sleep(300);
      asked.set(email, now);
      return true;
    };

    const { ends } = await passUntilSettled(run({ ...world, audience }, rows(count), { isCurrent }));

    expect(ends).toEqual(Array<string>(count).fill("succeeded"));
    expect(ages).toHaveLength(Math.max(count, 3));
    expect(Math.max(...ages)).toBeLessThanOrEqual(1_000);
  });

  const message =
    "isCurrent was too old, three times: when a row leaves, an answer may be 1 s old. The row was not sent, or not sent again.";
  it.each<[string, number, object, number]>([
    ["and one that is late twice is asked again", 2, { status: "succeeded" }, 3],
    [
      "and one that is late three times ends its row",
      3,
      { status: "failed", error: { code: "timeout", outcome: "not-sent", timeoutMs: 1_000, message } },
      3,
    ],
  ])("%s", async (_, late, result, calls) => {
    const world = createFixture();
    let asked = 0;
    const isCurrent = async () => {
      await sleep(++asked <= late ? 1_100 : 10);
      return true;
    };

    const { results } = await passUntilSettled(run(world, rows(1), { isCurrent }));

    expect(results).toMatchObject([result]);
    expect([asked, world.mock.requests.length]).toEqual([calls, late < 3 ? 1 : 0]);
  });

  it("and one that is late three times before a retry leaves it open whether the row was sent", async () => {
    const world = createFixture({ faults: [{ kind: "reset-before", times: 1 }] });
    let asked = 0;
    const isCurrent = async () => {
      await sleep(++asked > 1 ? 1_100 : 10);
      return true;
    };

    const { results } = await passUntilSettled(run(world, rows(1), { isCurrent }));

    expect(results).toMatchObject([
      { status: "unknown", error: { code: "timeout", outcome: "unknown", message } },
    ]);
    expect([asked, world.mock.requests.length]).toEqual([4, 1]);
  });
});
