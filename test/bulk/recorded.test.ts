import { createHash } from "node:crypto";
import { AudienceClient, ConfigurationError, type BulkRequest } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { collectRun, LoggedCheckpoint, row, rows, createFixture, type Row, key } from "./fixture.ts";

const eventOf = ({ email }: Row) => ({ eventName: "imported", contact: { email } });

describe("A record is flushed, so that a loss of power cannot lose it,", () => {
  it("before a call that must not be repeated, and before the calls of a changed row, but not of a new one", async () => {
    const { audience, upsert } = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const call = async (item: Row, request: BulkRequest) => {
      await upsert(item, request);
      await audience.v1.customers.upsert({ ...item, double_opt_in: true }, request);
    };
    await audience.bulk(rows(1), call, { checkpoint, key });
    const ofNewRow = checkpoint.flushed.splice(0);

    await audience.bulk([{ ...row(0), first_name: "Ada" }], call, { checkpoint, key });

    expect(ofNewRow).toEqual(["row-0@example.com: in-doubt"]);
    expect(checkpoint.flushed).toEqual(["row-0@example.com: sent", "row-0@example.com: in-doubt"]);
  });

  it("before a row makes the next one with its key be sent again", async () => {
    const { audience, upsert } = createFixture();
    const checkpoint = new LoggedCheckpoint();
    await audience.bulk([row(0), row(0)], upsert, { checkpoint, key });

    await audience.bulk([{ ...row(0), first_name: "Ada" }, row(0)], upsert, { checkpoint, key });

    expect(checkpoint.flushed).toEqual([
      "row-0@example.com#2: sent",
      "row-0@example.com: sent",
      "row-0@example.com#2: sent",
    ]);
  });

  it("before another call writes a consent, and not when that call has ended", async () => {
    const { audience, upsert } = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const flushed: string[][] = [];
    async function* source() {
      yield row(1);
      flushed.push([...checkpoint.flushed]);
      await audience.v1.customers.upsert(row(0));
      flushed.push([...checkpoint.flushed]);
    }

    await audience.bulk(source(), upsert, { checkpoint, key });

    expect(flushed).toEqual([[], ["consent:email:row-0@example.com"]]);
    expect(checkpoint.flushed).toHaveLength(1);
  });
});

describe("With a checkpoint", () => {
  it("a row is recorded before it is sent, and its outcome before its result is yielded and the next row starts", async () => {
    const { audience, mock, upsert } = createFixture();
    const checkpoint = new LoggedCheckpoint();

    for await (const { key: name } of audience.bulk(rows(3), upsert, { checkpoint, key, concurrency: 1 })) {
      checkpoint.log.push(`taken ${name}, ${mock.requests.length} sent`);
    }

    expect(checkpoint.log).toEqual([
      "open",
      "row-0@example.com: sent",
      "row-0@example.com: succeeded",
      "taken row-0@example.com, 1 sent",
      "row-1@example.com: sent",
      "row-1@example.com: succeeded",
      "taken row-1@example.com, 2 sent",
      "row-2@example.com: sent",
      "row-2@example.com: succeeded",
      "taken row-2@example.com, 3 sent",
      "close",
    ]);
  });

  it("rows that succeeded are skipped by the next run, and the other rows are sent", async () => {
    const { audience, mock, upsert } = createFixture(
      { faults: [{ kind: "500-before", times: 1, after: 1 }] },
      { maxRetries: 0 },
    );
    const checkpoint = new LoggedCheckpoint();
    const first = await audience.bulk(rows(3), upsert, { checkpoint, key, concurrency: 1 }).summary();

    const { results } = await collectRun(audience.bulk(rows(4), upsert, { checkpoint, key, concurrency: 1 }));

    expect(first).toMatchObject({ succeeded: 2, unknown: 1 });
    expect(results.map(({ status }) => status)).toEqual(["skipped", "succeeded", "skipped", "succeeded"]);
    expect(mock.requests.map(({ body }) => (body as Row).email[4])).toEqual(["0", "1", "2", "1", "3"]);
  });

  it("no further row is read once the loop was left at a row that was skipped", async () => {
    const { audience, upsert } = createFixture();
    const checkpoint = new LoggedCheckpoint();
    await audience.bulk(rows(3), upsert, { checkpoint, key }).summary();
    const read: string[] = [];
    function* source() {
      for (const item of rows(3)) {
        read.push(item.email);
        yield item;
      }
    }

    for await (const { status } of audience.bulk(source(), upsert, { checkpoint, key })) {
      expect(status).toBe("skipped");
      break;
    }

    expect(read).toEqual(["row-0@example.com"]);
  });

  it.each([
    ["repeatable is recorded as sent", false, "sent"],
    ["not repeatable is recorded as in doubt", true, "in-doubt"],
  ])("a call that is %s before it is sent", async (_, double_opt_in, state) => {
    const checkpoint = new LoggedCheckpoint();
    const { mock, audience: probe } = createFixture();
    const audience = probe.withOptions({
      fetch: (url, init) => {
        checkpoint.log.push("sent");
        return mock.fetch(url, init);
      },
    });
    const call = (item: Row, request: BulkRequest) =>
      audience.v1.customers.upsert({ ...item, ...(double_opt_in && { double_opt_in }) }, request);

    await audience.bulk(rows(1), call, { checkpoint, key }).summary();

    expect(checkpoint.log).toEqual([
      "open",
      `row-0@example.com: ${state}`,
      "sent",
      "row-0@example.com: succeeded",
      "close",
    ]);
  });

  it("the next run reports a row in doubt, and does not send it", async () => {
    const { audience, mock } = createFixture({ faults: [{ kind: "reset-after", times: 1 }] });
    const checkpoint = new LoggedCheckpoint();
    const call = (item: Row, request: BulkRequest) =>
      audience.v1.customers.upsert({ ...item, double_opt_in: true }, request);
    const first = await collectRun(audience.bulk(rows(1), call, { checkpoint, key }));

    const second = await collectRun(audience.bulk(rows(1), call, { checkpoint, key }));

    expect(first.results).toMatchObject([{ status: "unknown", error: { outcome: "unknown" } }]);
    expect(second.results).toMatchObject([
      {
        status: "unknown",
        error: {
          outcome: "unknown",
          reason: "other",
          message: "Not sent again: an earlier run may have carried it out.",
        },
      },
    ]);
    expect(mock.requests).toHaveLength(1);
  });

  it("a row whose second call is not repeatable is in doubt from that call on", async () => {
    const { audience, upsert } = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const call = async (item: Row, request: BulkRequest) => {
      await upsert(item, request);
      await audience.v1.customers.upsert({ ...item, double_opt_in: true }, request);
    };

    await audience.bulk(rows(1), call, { checkpoint, key });

    expect(checkpoint.log.slice(1, 4)).toEqual([
      "row-0@example.com: sent",
      "row-0@example.com: in-doubt",
      "row-0@example.com: succeeded",
    ]);
  });

  it("a row whose first call is not repeatable stays in doubt while a later call is in flight", async () => {
    const { audience, upsert } = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const call = async (item: Row, request: BulkRequest) => {
      await audience.v1.customers.upsert({ ...item, double_opt_in: true }, request);
      await upsert(item, request);
    };

    await audience.bulk(rows(1), call, { checkpoint, key });

    expect(checkpoint.log.slice(1, 4)).toEqual([
      "row-0@example.com: in-doubt",
      "row-0@example.com: in-doubt",
      "row-0@example.com: succeeded",
    ]);
  });

  it("a doubt is cleared where the service applied nothing", async () => {
    const { audience, mock } = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const call = (item: Row, request: BulkRequest) =>
      audience.v1.contactGroups.addContact(
        "gone",
        { email: item.email },
        { ...request, consent: "service-decides", repeatable: false },
      );
    const refused = (item: Row, request: BulkRequest) =>
      audience
        .withOptions({ fetch: (url, init) => mock.fetch(url.replace("customer/create", "nowhere"), init) })
        .v1.customers.upsert({ ...item, double_opt_in: true }, request);

    const doubt = await collectRun(audience.bulk(rows(1), call, { checkpoint, key, stopWhen: () => false }));
    const nothing = await collectRun(audience.bulk([row(1)], refused, { checkpoint, key }));

    // The 404 of addContact may have created the contact; any other 404 has applied nothing.
    expect([doubt.results[0]?.status, nothing.results[0]?.status]).toEqual(["unknown", "failed"]);
    expect([...checkpoint.states]).toEqual([
      ["row-0@example.com", "in-doubt"],
      ["row-1@example.com", "failed"],
    ]);
  });

  it("a doubt is cleared where nothing was sent", async () => {
    const { audience: probe } = createFixture();
    const refused = Object.assign(new Error("connect ECONNREFUSED"), {
      code: "ECONNREFUSED",
      syscall: "connect",
    });
    const audience = probe.withOptions({ fetch: () => Promise.reject(refused), maxRetries: 0 });
    const checkpoint = new LoggedCheckpoint();
    const call = (item: Row, request: BulkRequest) =>
      audience.v1.customers.upsert({ ...item, double_opt_in: true }, request);

    const { results } = await collectRun(audience.bulk(rows(1), call, { checkpoint, key }));

    expect(results).toMatchObject([{ status: "failed", error: { outcome: "not-sent" } }]);
    expect(checkpoint.log.slice(1, 3)).toEqual(["row-0@example.com: in-doubt", "row-0@example.com: nothing"]);
  });

  it("a row whose first call is not repeatable stays in doubt when a later call fails", async () => {
    const { audience, mock } = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const call = async (item: Row, request: BulkRequest) => {
      await audience.v1.customers.upsert({ ...item, double_opt_in: true }, request);
      throw new TypeError("a mistake of the caller's own");
    };

    const first = await collectRun(audience.bulk(rows(1), call, { checkpoint, key }));
    const second = await collectRun(audience.bulk(rows(1), call, { checkpoint, key }));

    expect(first.results).toMatchObject([{ status: "unknown", error: expect.any(TypeError) }]);
    expect(second.results).toMatchObject([{ status: "unknown" }]);
    expect(mock.requests).toHaveLength(1);
  });

  it("a doubt from an earlier run is not passed to stopWhen", async () => {
    const { audience, upsert } = createFixture({ faults: [{ kind: "reset-after", times: 1 }] });
    const checkpoint = new LoggedCheckpoint();
    const unrepeatable = (item: Row, request: BulkRequest) =>
      audience.v1.customers.upsert({ ...item, double_opt_in: true }, request);
    await audience.bulk(rows(1), unrepeatable, { checkpoint, key }).summary();

    const { results, error } = await collectRun(
      audience.bulk(rows(2), upsert, { checkpoint, key, concurrency: 1, stopWhen: () => true }),
    );

    expect(results.map(({ status }) => status)).toEqual(["unknown", "succeeded"]);
    expect(error).toBeUndefined();
  });

  it("an event without an id has the same one in the next run, and a row's second event another", async () => {
    const { audience, mock } = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const call = async (item: Row, request: BulkRequest) => {
      await audience.v1.events.send(eventOf(item), request);
      await audience.v1.events.send(eventOf(item), request);
    };
    await audience.bulk(rows(2), call, { checkpoint, key, concurrency: 1 }).summary();
    // As if the process had been killed before it recorded their outcomes.
    for (const [name, value] of checkpoint.values)
      if (name.startsWith("row:")) checkpoint.values.set(name, value.replace("succeeded ", "sent "));

    await audience.bulk(rows(2), call, { checkpoint, key, concurrency: 1 }).summary();

    const ids = mock.requests.map(({ body }) => (body as { uniqueIdentifier: string }).uniqueIdentifier);
    expect(ids.slice(4)).toEqual(ids.slice(0, 4));
    expect(ids[0]).toMatch(/^[0-9a-f]{64}-1-imported$/);
    expect(ids[1]).toBe(ids[0]?.replace("-1-", "-2-"));
    expect(new Set(ids).size).toBe(4);
    expect(mock.organization("mock-organization").events).toHaveLength(4);
  });

  it("without a checkpoint each event has an id of its own", async () => {
    const { audience, mock } = createFixture();
    const call = async (item: Row, request: BulkRequest) => {
      await audience.v1.events.send(eventOf(item), request);
      await audience.v1.events.send(eventOf(item), request);
    };

    await audience.bulk(rows(2), call, { key }).summary();

    const ids = mock.requests.map(({ body }) => (body as { uniqueIdentifier: string }).uniqueIdentifier);
    expect(new Set(ids).size).toBe(4);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  it("an event that has an id keeps it", async () => {
    const { audience, mock } = createFixture();
    const call = (item: Row, request: BulkRequest) =>
      audience.v1.events.send({ ...eventOf(item), uniqueIdentifier: "order-17" }, request);

    await audience.bulk(rows(1), call, { checkpoint: new LoggedCheckpoint(), key }).summary();

    expect(mock.requests).toMatchObject([{ body: { uniqueIdentifier: "order-17" } }]);
  });
});

describe("A checkpoint that fails ends the run with its error", () => {
  const failure = new Error("no space left on device");

  it.each(["open", "get", "set", "clear", "close"] as const)("%s", async (method) => {
    const { audience, mock, upsert } = createFixture();
    const checkpoint = new LoggedCheckpoint();
    checkpoint.fails.set(method, failure);
    // Only the checkpoint of a single run is cleared.
    const options = { checkpoint, concurrency: 2, ...(method !== "clear" && { key }) };
    const run = audience.bulk(rows(50), upsert, options);

    const { error } = await collectRun(run);

    expect(error).toBe(failure);
    await expect(run.summary()).rejects.toBe(failure);
    const sent = { open: 0, get: 0, set: 0, clear: 50, close: 50 }[method];
    expect(mock.requests).toHaveLength(sent);
    expect(checkpoint.log.at(-1) === "close").toBe(method !== "open" && method !== "close");
  });

  it.each([
    ["when a row is looked up", "get", 0],
    ["when a row is to be sent", "set", 0],
    ["when a row has ended", "set", 1],
  ] as const)("%s", async (_, method, works) => {
    const { audience, mock, upsert } = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const real = checkpoint[method].bind(checkpoint) as (...given: unknown[]) => unknown;
    let times = 0;
    const failing = (name: string, ...rest: unknown[]) => {
      if (name.startsWith("row:") && ++times > works) throw failure;
      return real(name, ...rest);
    };
    Object.assign(checkpoint, { [method]: failing });
    const run = audience.bulk(rows(50), upsert, { checkpoint, key, concurrency: 2 });

    const { error } = await collectRun(run);

    expect(error).toBe(failure);
    await expect(run.summary()).rejects.toBe(failure);
    // No row is sent before it is recorded.
    expect(mock.requests).toHaveLength(works);
    expect(checkpoint.log.at(-1)).toBe("close");
  });

  it("before a call is sent that is not repeatable", async () => {
    const { audience, mock } = createFixture();
    const checkpoint = new LoggedCheckpoint();
    checkpoint.fails.set("set", failure);
    const call = (item: Row, request: BulkRequest) =>
      audience.v1.customers.upsert({ ...item, double_opt_in: true }, request);

    const { error } = await collectRun(audience.bulk(rows(3), call, { checkpoint, key }));

    expect(error).toBe(failure);
    expect(mock.requests).toEqual([]);
  });

  it("after a loop that was left early", async () => {
    const { audience, upsert } = createFixture();
    const checkpoint = new LoggedCheckpoint();
    checkpoint.fails.set("close", failure);
    const leave = async () => {
      for await (const _ of audience.bulk(rows(3), upsert, { checkpoint })) break;
    };

    await expect(leave()).rejects.toBe(failure);
  });

  it("the run rejects with the first failure", async () => {
    const { audience, upsert } = createFixture({}, { apiKey: "some-other-key-000" });
    const checkpoint = new LoggedCheckpoint();
    checkpoint.fails.set("close", failure);

    expect((await collectRun(audience.bulk(rows(3), upsert, { checkpoint }))).error).toMatchObject({
      code: "authentication",
    });
  });
});

describe("A row's key", () => {
  const names = async (emails: string[], options: object) => {
    const { audience } = createFixture();
    const items = emails.map((email) => ({ email }));
    const { results } = await collectRun(
      audience.bulk(items, async () => null, { concurrency: 1, ...options }),
    );
    return results.map((result) => result.key);
  };
  const byEmail = ({ email }: { email: string }) => email;

  it("gets a number where it repeats", async () => {
    const options = { key: byEmail, checkpoint: new LoggedCheckpoint() };

    expect(await names(["a", "b", "a", "a", "b"], options)).toEqual(["a", "b", "a#2", "a#3", "b#2"]);
  });

  it("never equals the numbered key of another row", async () => {
    const of = (emails: string[]) => names(emails, { key: byEmail, checkpoint: new LoggedCheckpoint() });

    expect(await of(["a", "a", "a#2"])).toEqual(["a", "a#2", "a#2#2"]);
    expect(await of(["a#2", "a", "a"])).toEqual(["a#2", "a", "a#3"]);
  });

  it("is unchanged where there is no checkpoint", async () => {
    expect(await names(["a", "a"], { key: byEmail })).toEqual(["a", "a"]);
  });

  it("is a hash of the row's content where no key function is given", async () => {
    const once = await names(["a", "b", "a"], { checkpoint: new LoggedCheckpoint() });
    const other = await names(["x", "b", "a"], { checkpoint: new LoggedCheckpoint() });

    // 96 bits of it.
    expect(once[0]).toBe(createHash("sha256").update('{"email":"a"}').digest("hex").slice(0, 24));
    expect(once[2]).toBe(`${once[0]}#2`);
    expect([other[1], other[2]]).toEqual([once[1], once[0]]);
  });

  it("whose function fails makes the row invalid, and does not end the run", async () => {
    const { audience, mock, upsert } = createFixture();
    const items = [row(0), { ...row(1), email: "" }, row(2)];

    const { results, error } = await collectRun(audience.bulk(items, upsert, { key, concurrency: 1 }));

    expect(results.map(({ status }) => status)).toEqual(["succeeded", "invalid", "succeeded"]);
    expect(results[1]).toMatchObject({ key: "1", error: { code: "validation" } });
    expect(error).toBeUndefined();
    expect(mock.requests).toHaveLength(2);
  });

  it.each([
    ["", "an empty string"],
    [null, "null"],
    [7, "a number"],
    [undefined, "undefined"],
    // A string cut in the middle of a character: two such keys could be confused.
    ["\ud800", "half a character"],
    ["ada \udc00", "half a character"],
  ])("is a non-empty string, and not %j", async (given, kind) => {
    const { audience } = createFixture();

    const { results } = await collectRun(audience.bulk([1], async () => null, { key: () => given as never }));

    const message = `the key function must return a string, not ${kind}`;
    expect(results).toMatchObject([{ error: { issues: [{ path: [], code: "no_key", message }] } }]);
  });

  it("whose function fails is passed to stopWhen", async () => {
    const { audience, upsert } = createFixture();
    const seen: unknown[] = [];
    const stopWhen = (error: unknown) => seen.push(error) === 0;

    const { results } = await collectRun(audience.bulk(rows(1), upsert, { key: () => "", stopWhen }));

    expect(seen).toEqual([results[0]?.error]);
  });

  it.each([
    ["another error of this package", new ConfigurationError("not configured")],
    ["a foreign error that resembles one", Object.assign(new Error("no"), { code: "validation" })],
  ])("whose function throws %s makes the row failed", async (_, thrown) => {
    const { audience, upsert } = createFixture();
    const keyOf = () => {
      throw thrown;
    };

    const { results } = await collectRun(
      audience.bulk(rows(1), upsert, { key: keyOf, stopWhen: () => false }),
    );

    expect(results).toMatchObject([{ status: "failed", error: thrown }]);
  });

  it("whose function throws makes the row failed with what it threw", async () => {
    const { audience, upsert } = createFixture();

    const { results, error } = await collectRun(
      audience.bulk([null as unknown as Row, row(1)], upsert, { key, concurrency: 1 }),
    );

    expect(results.map(({ status }) => status)).toEqual(["failed", "succeeded"]);
    expect(results[0]?.error).toBeInstanceOf(TypeError);
    expect(error).toBeUndefined();
  });

  it.each([
    ["a BigInt", { n: 1n }, "Do not know how to serialize a BigInt"],
    [
      "a value whose toJSON throws a string",
      {
        toJSON: () => {
          // oxlint-disable-next-line typescript/only-throw-error -- as a caller's own code may.
          throw "not today";
        },
      },
      "not today",
    ],
    ["a Map", new Map([["email", "ada@example.com"]]), "it holds a Map"],
    ["a Set within", { emails: new Set(["ada@example.com"]) }, "it holds a Set"],
    ["a URLSearchParams", new URLSearchParams("email=ada@example.com"), "it holds a URLSearchParams"],
    [
      "a class without public fields",
      new (class Row {
        readonly #email = "ada@example.com";
        get email() {
          return this.#email;
        }
      })(),
      "it holds an instance of a class without properties",
    ],
  ])("needs a fingerprint where JSON cannot represent the row: %s", async (_, item, reason) => {
    const { audience } = createFixture();

    const { results } = await collectRun(
      audience.bulk([item], async () => null, { checkpoint: new LoggedCheckpoint() }),
    );

    const message = `the row cannot be written as JSON (${reason}): give a \`fingerprint\``;
    expect(results).toMatchObject([{ status: "invalid", error: { issues: [{ message }] } }]);
  });

  it.each([undefined, () => 1])("cannot be a hash of %s, which JSON omits", async (item) => {
    const { audience } = createFixture();
    const options = { checkpoint: new LoggedCheckpoint() };

    const { results } = await collectRun(audience.bulk([item], async () => null, options));

    const message = `the row cannot be written as JSON (it is ${typeof item}): give a \`fingerprint\``;
    expect(results).toMatchObject([{ status: "invalid", error: { issues: [{ message }] } }]);
  });
});

it("Two clients of one process may run over one checkpoint, one after the other", async () => {
  const mock = createMockService();
  const checkpoint = new LoggedCheckpoint();
  const run = () => {
    const audience = new AudienceClient(mock.clientOptions);
    return audience
      .bulk(rows(5), (item, request) => audience.v1.customers.upsert(item, request), { checkpoint, key })
      .summary();
  };

  expect([await run(), await run()]).toMatchObject([{ succeeded: 5 }, { skipped: 5 }]);
  expect(mock.requests).toHaveLength(5);
});
