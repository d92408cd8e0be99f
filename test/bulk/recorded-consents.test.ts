import { AbortError, type AudienceClient } from "audience-sdk";
import type { MockService } from "audience-sdk/mock";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  collectRun,
  createFixture as createOneKey,
  deferred,
  flushEventLoop,
  gated,
  key,
  row,
  rows,
  until,
  type Row,
} from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

const ada = row(0);
/** Survives the change of keys. */
const named = { key, organization: "acme" };
const optOut: Row = { ...ada, email_opt_in: "UNSUBSCRIBED" };
const consentOf = (mock: MockService) =>
  mock.organization("mock-organization").contacts.find(({ email }) => email === ada.email)?.email_opt_in;

/** A service whose organization has two keys: clients of one key see each other, as those of one process do. */
function createFixture(_?: object, options?: object) {
  const apiKeys = ["key-of-this-process", "key-of-another-process"];
  return createOneKey({ organizations: [{ id: "mock-organization", apiKeys, appId: "app" }] }, options);
}

/** The run of another process over the checkpoint, as it was left. */
async function resumed(mock: MockService, checkpoint: MemoryCheckpoint, item: Row = ada) {
  const { audience, upsert } = createOneKey({}, { ...mock.clientOptions, apiKey: "key-of-another-process" });
  const { results, error } = await collectRun(audience.bulk([item], upsert, { ...named, checkpoint }));
  expect(error).toBeUndefined();
  return results[0]?.status;
}

/** A run that stands still, as its row does. */
function standing(audience: AudienceClient, checkpoint: MemoryCheckpoint, item = row(1)) {
  const stop = new AbortController();
  const { promise, resolve } = deferred();
  onTestFinished(() => resolve());
  onTestFinished(() => stop.abort());
  let hasBegun = false;
  const call = async () => {
    hasBegun = true;
    await promise;
  };
  void collectRun(audience.bulk([item], call, { ...named, checkpoint, signal: stop.signal }));
  return { begun: () => until(() => hasBegun), end: () => resolve() };
}

describe("A consent that another call writes while a run has its checkpoint open binds the run that goes on after a kill", () => {
  it("if it was applied", async () => {
    const { audience, mock } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    await standing(audience, checkpoint).begun();
    await audience.v1.customers.upsert(optOut);

    expect(await resumed(mock, checkpoint.copy())).toBe("superseded");
    expect(consentOf(mock)).toBe("UNSUBSCRIBED");
  });

  it("if it was in flight at the kill, because it may have been applied", async () => {
    const { mock } = createFixture();
    const { fetch, open, sent } = gated(mock.fetch);
    onTestFinished(open);
    const { audience } = createOneKey({}, { ...mock.clientOptions, fetch });
    const checkpoint = new MemoryCheckpoint();
    await standing(audience, checkpoint).begun();
    const write = audience.v1.customers.upsert(optOut);
    await until(() => sent.length === 1);

    expect(await resumed(mock, checkpoint.copy())).toBe("superseded");
    open();
    await write;
  });

  it("if it began before the run, and was in flight at the kill", async () => {
    const { mock } = createFixture();
    const { fetch, open } = gated(mock.fetch);
    onTestFinished(open);
    const { audience } = createOneKey({}, { ...mock.clientOptions, fetch });
    const checkpoint = new MemoryCheckpoint();
    const write = audience.v1.customers.upsert(optOut);
    await standing(audience, checkpoint, ada).begun();
    await flushEventLoop();

    expect(await resumed(mock, checkpoint.copy())).toBe("superseded");
    open();
    await write;
  });

  it("if it was in flight at the kill, though further calls are refused before the row is sent", async () => {
    const { mock } = createFixture();
    const { fetch, open, sent } = gated(mock.fetch);
    onTestFinished(open);
    const { audience } = createOneKey({}, mock.clientOptions);
    const checkpoint = new MemoryCheckpoint();
    await standing(audience, checkpoint).begun();
    await audience.v1.customers.upsert(ada);
    const write = audience.withOptions({ fetch }).v1.customers.upsert(optOut);
    await until(() => sent.length === 1);
    const next = createOneKey({}, { ...mock.clientOptions, apiKey: "key-of-another-process" });
    const refused = next.audience.withOptions({ fetch: async () => Response.json({}, { status: 400 }) });
    async function* source() {
      for (let call = 0; call < 2; call++) await refused.v1.customers.upsert(ada).catch(() => undefined);
      yield ada;
    }

    const run = next.audience.bulk(source(), next.upsert, { ...named, checkpoint: checkpoint.copy() });

    expect(await run).toMatchObject({ superseded: 1 });
    open();
    await write;
  });

  it.each<[string, () => Response]>([
    ["applied", () => Response.json({}, { status: 400 })],
    [
      "sent",
      () => {
        throw new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) });
      },
    ],
  ])("but not if it was not %s", async (_, refuse) => {
    const { audience, mock } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    await standing(audience, checkpoint).begun();
    const refused = audience.withOptions({ maxRetries: 0, fetch: async () => refuse() });
    await refused.v1.customers.upsert(optOut).catch(() => undefined);

    expect(await resumed(mock, checkpoint.copy())).toBe("succeeded");
  });

  it("but not if its write had ended before the run began", async () => {
    const { audience, mock } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    await audience.v1.customers.upsert(optOut);
    await standing(audience, checkpoint).begun();

    expect(await resumed(mock, checkpoint.copy())).toBe("succeeded");
  });
});

describe("A consent that another call writes", () => {
  it("is recorded before its request is sent", async () => {
    const { mock } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    let left: MemoryCheckpoint | undefined;
    const fetch = async (url: string, init: RequestInit) => {
      left = checkpoint.copy();
      return await mock.fetch(url, init);
    };
    const { audience } = createOneKey({}, { ...mock.clientOptions, fetch });
    await standing(audience, checkpoint).begun();
    await audience.v1.customers.upsert(optOut);

    expect(await resumed(mock, left!)).toBe("superseded");
  });

  it("is recorded before its run ends, however slow the checkpoint is", async () => {
    const { audience, upsert, mock } = createFixture();
    class SlowCheckpoint extends MemoryCheckpoint {
      override append = async (text: string, isFlushed: boolean) => {
        await flushEventLoop();
        await super.append(text, isFlushed);
      };
    }
    const checkpoint = new SlowCheckpoint();
    const writes: Promise<unknown>[] = [];
    for await (const _ of audience.bulk([ada], upsert, { ...named, checkpoint }))
      writes.push(Promise.resolve(audience.v1.customers.upsert(optOut)));
    const left = checkpoint.copy();
    await Promise.all(writes);

    expect(await resumed(mock, left, { ...ada, first_name: "Ada" } as Row)).toBe("superseded");
    expect(consentOf(mock)).toBe("UNSUBSCRIBED");
  });

  it("is recorded if the end of the run waits for another one", async () => {
    const { audience, upsert, mock } = createFixture();
    const { promise: isFree, resolve: free } = deferred();
    let isEnding = false;
    class SlowCheckpoint extends MemoryCheckpoint {
      override append = async (text: string, isFlushed: boolean) => {
        if (isEnding) await isFree;
        await super.append(text, isFlushed);
      };
    }
    const checkpoint = new SlowCheckpoint();
    const writes: Promise<unknown>[] = [];
    const write = (email: string) =>
      writes.push(Promise.resolve(audience.v1.customers.upsert({ email, email_opt_in: "UNSUBSCRIBED" })));
    const leave = async () => {
      for await (const _ of audience.bulk([row(3)], upsert, { ...named, checkpoint })) {
        isEnding = true;
        write(row(1).email);
        break;
      }
    };
    const left = leave();
    await until(() => writes.length === 1);
    await flushEventLoop();
    write(ada.email);
    await flushEventLoop();
    free();
    await left;
    await Promise.all(writes);

    // The run was left, so this one goes on.
    expect(await resumed(mock, checkpoint)).toBe("superseded");
  });
});

describe("A consent of another call that the checkpoint cannot record ends the run with its error", () => {
  const failure = new Error("the disk is full");

  /** A run whose checkpoint fails while another call writes Ada's consent, and is mended then. */
  async function failedRun(write: (audience: AudienceClient) => Promise<unknown>, line = "writes") {
    const { audience, mock, upsert } = createFixture();
    class FullCheckpoint extends MemoryCheckpoint {
      isFull = true;
      override append = async (text: string, isFlushed: boolean) => {
        if (this.isFull && text.startsWith(`["${line}`)) throw failure;
        await super.append(text, isFlushed);
      };
    }
    const checkpoint = new FullCheckpoint();
    async function* source() {
      await write(audience).catch(() => undefined);
      yield ada;
    }
    const options = { ...named, checkpoint };
    const { error, results } = await collectRun(audience.bulk(source(), upsert, options));
    expect([error, results]).toEqual([failure, []]);
    checkpoint.isFull = false;
    const next = (item: Row) => audience.bulk([item], upsert, options).summary();
    return { mock, checkpoint, next };
  }

  it.each<[string, string, (audience: AudienceClient) => Promise<unknown>]>([
    ["applied", "wr", ({ v1 }) => v1.customers.upsert(optOut)],
    ["applied, and its end alone is not recorded", "wrote", ({ v1 }) => v1.customers.upsert(optOut)],
  ])("and binds the next run of the process, which records it: %s", async (_, line, write) => {
    const { mock, checkpoint, next } = await failedRun(write, line);

    expect(await next(ada)).toMatchObject({ superseded: 1 });

    expect(consentOf(mock)).toBe("UNSUBSCRIBED");
    const left = checkpoint.copy();
    expect(await resumed(mock, left, { ...ada, first_name: "Ada" } as Row)).toBe("superseded");
  });

  it("and does not bind it where the write was not applied", async () => {
    const { next } = await failedRun(
      (audience) =>
        audience
          .withOptions({ fetch: async () => Response.json({}, { status: 400 }) })
          .v1.customers.upsert(optOut),
      "wr",
    );

    expect(await next(ada)).toMatchObject({ succeeded: 1 });
  });

  it("and is not noted where the run is complete: it came before the next one", async () => {
    const { audience, mock, upsert } = createFixture();
    class LateCheckpoint extends MemoryCheckpoint {
      override async open() {
        const opened = await super.open();
        const close = async () => {
          await opened.close();
          await audience.v1.customers.upsert(optOut);
        };
        return { ...opened, close };
      }
    }
    const options = { ...named, checkpoint: new LateCheckpoint(), checkConsent: false };
    await audience.bulk([ada], upsert, options);

    const changed = { ...ada, first_name: "Ada" } as Row;

    expect(await audience.bulk([changed], upsert, options)).toMatchObject({ succeeded: 1 });
    expect(mock.requests).toHaveLength(4);
  });
});

describe("While a checkpoint opens", () => {
  /** A checkpoint that opens when the test says so. */
  function slowCheckpoint() {
    const { promise, resolve: open } = deferred();
    class SlowCheckpoint extends MemoryCheckpoint {
      override async open() {
        await promise;
        return await super.open();
      }
    }
    return { checkpoint: new SlowCheckpoint(), open };
  }

  it("a consent is written at once, supersedes the run's row, and is recorded", async () => {
    const { audience, mock, upsert } = createFixture();
    const { checkpoint, open } = slowCheckpoint();
    const ended = collectRun(audience.bulk([ada], upsert, { ...named, checkpoint }));

    await audience.v1.customers.upsert(optOut);
    open();

    expect((await ended).results).toMatchObject([{ status: "superseded" }]);
    expect(mock.requests).toHaveLength(1);
    expect(await resumed(mock, checkpoint, { ...ada, first_name: "Ada" } as Row)).toBe("superseded");
  });

  it("a consent that is in flight is recorded, as it may be applied", async () => {
    const { audience, mock } = createFixture();
    const gate = gated(mock.fetch);
    const slow = audience.withOptions({ fetch: gate.fetch });
    const { checkpoint, open } = slowCheckpoint();
    const { begun } = standing(audience, checkpoint);
    const written = slow.v1.customers.upsert(optOut);

    open();
    await begun();
    await flushEventLoop();

    expect(await resumed(mock, checkpoint.copy())).toBe("superseded");
    gate.open();
    await written;
  });

  it("a write of unknown outcome does not make a recorded opt-out forgotten", async () => {
    const { audience, mock, upsert } = createFixture();
    const { customers } = audience.withOptions({ maxRetries: 0 }).v1;
    const checkpoint = new MemoryCheckpoint();
    for await (const _ of audience.bulk([ada], upsert, { ...named, checkpoint }))
      await customers.upsert(optOut);
    const open = checkpoint.open.bind(checkpoint);
    checkpoint.open = async () => {
      mock.addFault({ kind: "reset-before", times: 1 });
      await expect(customers.upsert(ada)).rejects.toMatchObject({ outcome: "unknown" });
      return await open();
    };

    const second = await audience.bulk([{ ...ada, first_name: "Ada" }], upsert, { ...named, checkpoint });

    expect(second).toMatchObject({ superseded: 1 });
    expect(consentOf(mock)).toBe("UNSUBSCRIBED");
  });

  it("an abort ends the run, and the checkpoint is closed when it opens", async () => {
    const { audience, mock, upsert } = createFixture();
    const { checkpoint, open } = slowCheckpoint();
    const stop = new AbortController();
    const ended = collectRun(audience.bulk(rows(2), upsert, { ...named, checkpoint, signal: stop.signal }));

    stop.abort();

    expect((await ended).error).toBeInstanceOf(AbortError);
    open();
    await until(() => checkpoint.log.at(-1) === "close");
    expect(mock.requests).toEqual([]);
  });
});

describe("A consent that another call wrote during an earlier night", () => {
  interface Item {
    readonly id: string;
    readonly contact: { readonly email_opt_in?: "SUBSCRIBED"; readonly first_name: string };
  }

  // The look holds the row that leaves the consent to the service, too.
  it.each([
    [false, { succeeded: 1 }],
    [true, { superseded: 1 }],
  ])(
    "is not forgotten by a new row of the contact that states none (checkConsent: %s)",
    async (checkConsent, lastNight) => {
      const { audience, mock } = createFixture();
      const checkpoint = new MemoryCheckpoint();
      const options = { checkpoint, key: ({ id }: Item) => id, concurrency: 1, checkConsent };
      const night = (...items: Item[]) =>
        audience.bulk(
          items,
          ({ contact }, request) => audience.v1.customers.upsert({ email: ada.email, ...contact }, request),
          options,
        );
      const member = (first_name: string): Item => ({
        id: "member",
        contact: { email_opt_in: "SUBSCRIBED", first_name },
      });
      const profile = (first_name: string): Item => ({ id: "profile", contact: { first_name } });
      for await (const _ of night(member("Ada"))) await audience.v1.customers.upsert(optOut);

      const nights = [await night(profile("Ada L."), member("Ada L.")), await night(profile("A. L."))];

      expect(nights).toMatchObject([{ succeeded: 1, superseded: 1 }, lastNight]);
      expect(consentOf(mock)).toBe("UNSUBSCRIBED");
    },
  );
});
