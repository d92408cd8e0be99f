import { AudienceClient, ConfigurationError, RateLimiter, type Write, write } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { type Row, collectRun, createFixture, key, row, rows, until, upsert } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

/** A write that must not be repeated: its second mail could go out. */
const mailed = (item: Row) => write.v1.customers.upsert({ ...item, double_opt_in: true });

/** A world in which each write notes what a kill, and what a loss of power, would leave as it arrives. */
function createFragileWorld() {
  const { mock } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  const left: { killed: MemoryCheckpoint; withoutPower: MemoryCheckpoint }[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    if (init.method === "POST")
      left.push({ killed: checkpoint.copy(), withoutPower: checkpoint.afterPowerLoss() });
    return await mock.fetch(url, init);
  };
  const { audience } = createFixture({}, { ...mock.clientOptions, fetch });
  const night = (
    items: readonly Row[],
    toWrites: (item: Row) => Write | Write[] = upsert,
    over = checkpoint,
  ) => audience.bulk(items, toWrites, { key, checkpoint: over });
  return { mock, audience, checkpoint, left, night };
}

describe("A run that was killed goes on where it was", () => {
  it("as a row is recorded before it is sent, and its end before its result is yielded and the next row begins", async () => {
    const { audience, checkpoint, left } = createFragileWorld();
    const states = (table: MemoryCheckpoint) =>
      [...table.entries].filter(([name]) => name !== "run").map(([, line]) => line.split('"')[1]);
    const seen: unknown[] = [];

    for await (const _ of audience.bulk(rows(2), upsert, { key, checkpoint, concurrency: 1 }))
      seen.push(states(checkpoint));

    expect(left.map(({ killed }) => states(killed))).toEqual([["sent"], ["succeeded", "sent"]]);
    expect(seen).toEqual([["succeeded"], ["succeeded", "succeeded"]]);
  });

  it("and reads no further row once the loop was left at a row that was skipped", async () => {
    const { audience } = createFixture();
    const options = { key, checkpoint: new MemoryCheckpoint(), concurrency: 1 };
    await audience.bulk(rows(3), upsert, options);
    const read: string[] = [];
    function* source() {
      for (const item of rows(3)) {
        read.push(item.email);
        yield item;
      }
    }

    for await (const { status } of audience.bulk(source(), upsert, options)) {
      expect(status).toBe("skipped");
      break;
    }

    expect(read).toEqual(["row-0@example.com"]);
  });

  it.each<[string, (item: Row) => Write | Write[], killedAt: number, status: string, sent: number]>([
    ["repeatable", upsert, 0, "succeeded", 1],
    ["repeatable, of two writes", (item) => [upsert(item), upsert(item)], 1, "succeeded", 2],
    ["not repeatable", mailed, 0, "unknown", 0],
    ["not repeatable, with a later write in flight", (item) => [mailed(item), upsert(item)], 1, "unknown", 0],
    [
      "not repeatable as its second write is in flight",
      (item) => [upsert(item), mailed(item)],
      1,
      "unknown",
      0,
    ],
    // What cannot be repeated has not left.
    ["repeatable up to the first of its writes", (item) => [upsert(item), mailed(item)], 0, "succeeded", 2],
  ])("with the row in flight: where it is %s", async (_, toWrites, killedAt, status, sent) => {
    const { left, mock, night } = createFragileWorld();
    await night(rows(1), toWrites);
    const before = mock.requests.length;

    const { results } = await collectRun(night(rows(1), toWrites, left[killedAt]!.killed));

    expect(results).toMatchObject([{ status }]);
    expect(mock.requests.slice(before).filter(({ method }) => method === "POST")).toHaveLength(sent);
  });
});

describe("A loss of power takes no record", () => {
  it("of a write that must not be repeated", async () => {
    const { left, mock, night } = createFragileWorld();
    await night(rows(1), mailed);

    expect(await night(rows(1), mailed, left[0]!.withoutPower)).toMatchObject({ unknown: 1 });
    expect(mock.requests).toHaveLength(1);
  });

  it("of a changed row that was sent: if it changes back, it is sent again", async () => {
    const { left, mock, night } = createFragileWorld();
    const changed: Row = { ...row(0), email_opt_in: "NON_SUBSCRIBED" };
    await night(rows(1));
    await night([changed]);

    expect(await night(rows(1), upsert, left[1]!.withoutPower)).toMatchObject({ succeeded: 1 });
    const { contacts } = mock.organization("mock-organization");
    expect(contacts).toMatchObject([{ email_opt_in: "SUBSCRIBED" }]);
  });

  it("of a refusal that another call wrote while the run lasted", async () => {
    const { audience, checkpoint, left, mock } = createFragileWorld();
    async function* source() {
      yield row(1);
      await audience.v1.customers.upsert({ ...row(0), email_opt_in: "UNSUBSCRIBED" });
      // Of a call that refuses nothing, nothing is recorded.
      await audience.v1.customers.upsert(row(2));
    }
    await audience.bulk(source(), upsert, { key, checkpoint });
    // Another process, which has not seen that call.
    const next = createFixture({}, { ...mock.clientOptions, apiKey: () => mock.clientOptions.apiKey });

    const { results } = await collectRun(
      next.audience.bulk(rows(2), upsert, { key, checkpoint: left.at(-1)!.withoutPower }),
    );

    // Without the names of a contact.
    // One for its e-mail, and one for its id.
    expect([...checkpoint.entries.keys()].filter((name) => name.startsWith("refusal:"))).toHaveLength(2);
    expect([...left.at(-1)!.withoutPower.entries].join(" ")).not.toMatch(/row-\d|example\.com/);
    expect(results).toContainEqual(
      expect.objectContaining({ item: row(0), status: "succeeded", kept: { email: "process" } }),
    );
    expect(mock.resubscriptions).toEqual([]);
  });
});

describe("A checkpoint with", () => {
  const unreadable =
    /has an entry named ".*" that cannot be read: it is damaged, or was written by another version\. .* end its run with the version that wrote it\./;
  it.each<[string, name: string, line: string | undefined, RegExp]>([
    ["a line of a row that is none", "row:a", '["sends"]', unreadable],
    ["a line of a row without its end", "row:a", '["succeeded",1,"a"', unreadable],
    ["a row in a state that there is not", "row:a", '["done",1,"a"]', unreadable],
    ["a name of another version", "toString", "1", unreadable],
    ["a line of its run that is none", "run", "1", unreadable],
    ["a run without its target", "run", '{"id":"a","number":1,"isKeyed":true}', unreadable],
    ["no line of its run", "run", undefined, /has no entry of its run/],
  ])("%s ends the run before anything is sent, and is left as it is", async (_, name, line, message) => {
    const before = createFixture();
    const whole = new MemoryCheckpoint();
    await before.audience.bulk(rows(2), upsert, { key, checkpoint: whole });
    const { entries } = whole;
    if (line === undefined) entries.delete(name);
    else entries.set(name, line);
    const puts = [...entries].map((entry) => ({ name: entry[0], line: entry[1], flush: true }));
    const checkpoint = new MemoryCheckpoint(puts);
    const { audience, mock } = createFixture();

    const { error } = await collectRun(audience.bulk(rows(2), upsert, { key, checkpoint }));

    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as Error).message).toMatch(message);
    expect(mock.requests).toEqual([]);
    expect(checkpoint.entries).toEqual(entries);
    expect(checkpoint.log).toEqual(["open", "close"]);
  });
});

it("What another call refuses as the checkpoint is closed is not recorded, as another run may have it", async () => {
  const { audience, mock } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  const open = async () => {
    const opened = await checkpoint.open();
    const close = async () => {
      await opened.close();
      await audience.v1.customers.upsert({ ...row(0), email_opt_in: "UNSUBSCRIBED" });
    };
    return { ...opened, close };
  };

  expect(await audience.bulk(rows(1), upsert, { key, checkpoint: { open } })).toMatchObject({ succeeded: 1 });

  expect(mock.requests).toHaveLength(2);
  expect(checkpoint.log.at(-1)).toBe("close");
});

it("A row that is killed between two of its writes is looked up by the id that the first response gave", async () => {
  const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 60_000 }], reserve: 0 });
  const { audience, mock } = createFixture({}, { rateLimiter });
  const event = { eventName: "imported", contact: { email: row(0).email } };
  const toWrites = (item: Row) => [upsert(item), write.v1.events.send(event)];
  const checkpoint = new MemoryCheckpoint();
  const ended = collectRun(audience.bulk([row(0)], toWrites, { checkpoint, key }));
  await until(() => rateLimiter.usage().queued === 1);
  const left = checkpoint.copy();
  await audience.close();
  await ended;
  mock.unsubscribe(row(0).email, { channel: "email" });

  const next = new AudienceClient(mock.clientOptions);
  const { results } = await collectRun(next.bulk([row(0)], toWrites, { checkpoint: left, key }));

  expect(results).toMatchObject([{ status: "succeeded", kept: { email: "service" } }]);
  expect(mock.requests.map(({ method }) => method)).toEqual(["POST", "GET", "POST", "POST"]);
  expect(mock.resubscriptions).toEqual([]);
});

describe("A row that may have been carried out", () => {
  it("has an error that says so, which ends no run", async () => {
    const { audience } = createFixture({ faults: [{ kind: "reset-after", times: 1 }] }, { maxRetries: 0 });
    const options = { checkpoint: new MemoryCheckpoint(), key };
    await audience.bulk(rows(1), mailed, options);

    const { results, error } = await collectRun(audience.bulk(rows(1), mailed, options));

    expect(error).toBeUndefined();
    expect(results[0]!.error).toMatchObject({
      code: "connection",
      outcome: "unknown",
      reason: "other",
      message: "Not sent: an earlier run may have carried out a write of the row that must not be repeated.",
    });
  });

  it("is none whose write was not sent: the next night sends it", async () => {
    const { audience, mock } = createFixture();
    const options = { checkpoint: new MemoryCheckpoint(), key };
    const fetch = async () => {
      throw new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) });
    };
    const refused = audience.withOptions({ fetch, maxRetries: 0 });

    const { results } = await collectRun(refused.bulk(rows(1), mailed, options));

    expect(results).toMatchObject([{ status: "failed", error: { outcome: "not-sent" } }]);
    expect(await audience.bulk(rows(1), mailed, options)).toMatchObject({ succeeded: 1 });
    expect(mock.organization("mock-organization").contacts).toHaveLength(1);
  });
});

it("A row whose first write may be repeated, and whose second must not be but met a 400, is sent again the next night", async () => {
  const { mock } = createFixture();
  let isRefused = true;
  const fetch = async (url: string, init: RequestInit) =>
    isRefused && url.endsWith("/customer/create")
      ? new Response(null, { status: 400 })
      : await mock.fetch(url, init);
  const audience = new AudienceClient({ ...mock.clientOptions, fetch });
  const options = { checkpoint: new MemoryCheckpoint(), key, stopWhen: () => false };
  const toWrites = ({ email }: Row) => [
    write.v1.events.send({ eventName: "imported", contact: { email } }),
    // Without `email_opt_in`.
    write.v1.customers.upsert({ email, first_name: "Ada" }),
  ];

  const nights = [await audience.bulk(rows(1), toWrites, options)];
  isRefused = false;
  for (let night = 0; night < 2; night++) nights.push(await audience.bulk(rows(1), toWrites, options));

  expect(nights).toMatchObject([{ failed: 1 }, { succeeded: 1 }, { skipped: 1 }]);
  const { contacts, events } = mock.organization("mock-organization");
  expect(contacts).toMatchObject([{ first_name: "Ada" }]);
  // Its generated id is the same each night.
  expect(events).toHaveLength(1);
});

it.each(["429", "500-before", "reset-before"] as const)(
  "The end of a run leaves nothing in doubt that was not sent: a retry after a %s that is cut off: the next run sends the row",
  async (kind) => {
    const { audience, mock } = createFixture({
      latencyMs: 50,
      faults: [{ kind, times: 1, retryAfter: 1 }],
    });
    const checkpoint = new MemoryCheckpoint();
    const stop = new AbortController();
    const first = collectRun(audience.bulk(rows(1), upsert, { key, checkpoint, signal: stop.signal }));
    await until(() => mock.requests.length === 1);

    stop.abort();

    expect((await first).results.map(({ status }) => status)).not.toContain("succeeded");
    expect(await audience.bulk(rows(1), upsert, { key, checkpoint })).toMatchObject({ succeeded: 1 });
    expect(mock.organization("mock-organization").contacts).toHaveLength(1);
  },
);
