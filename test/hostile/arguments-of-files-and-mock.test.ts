import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileCheckpoint, type OpenCheckpoint } from "audience-sdk/checkpoint";
import {
  ClickUndone,
  createMockService,
  everyClick,
  type EveryClickOptions,
  everyFault,
  type EveryFaultOptions,
  FaultFound,
  type MockFault,
  type MockListenOptions,
  type MockService,
} from "audience-sdk/mock";
import { mswHandlers, type MswHandlersOptions } from "audience-sdk/mock/msw";
import {
  openSnapshot,
  readSnapshot,
  type ReadSnapshotOptions,
  type Snapshot,
  type SnapshotQuery,
} from "audience-sdk/snapshot";
import { describe, expect, it, onTestFinished } from "vitest";
import { collect, createAudience } from "../snapshot/fixture.ts";
import { hostileMessage } from "./hostile-values.ts";
import { tryEntryPoint } from "./try-entry-point.ts";

it("For any arguments, fileCheckpoint returns a checkpoint or throws a TypeError, and touches no file", async () => {
  await tryEntryPoint({
    act: (path) => fileCheckpoint(path as string),
    valid: [["a.ckpt"]],
    allowedError: "a TypeError",
  });
});

it("For any name and line, an open checkpoint stores them or throws a TypeError, and the file stays readable", async () => {
  const folder = mkdtempSync(join(tmpdir(), "audience-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "rows.ckpt");
  const entriesOf = async ({ entries }: OpenCheckpoint) => {
    const all: unknown[] = [];
    for await (const entry of entries) all.push(entry);
    return all;
  };
  const open = await fileCheckpoint(path).open();
  // They are read first.
  expect(await entriesOf(open)).toEqual([]);
  const stored = new Map<string, string>();
  const act = async (name: unknown, line: unknown, options: unknown) => {
    const before = statSync(path).size;
    try {
      await open.put(name as string, line as string, options as { flush: boolean });
    } catch (error) {
      expect(statSync(path).size).toBe(before);
      throw error;
    }
    stored.set(name as string, line as string);
  };
  const valid = [["row:1", "row:2"], ["a line", ""], [{ flush: true }]];
  await tryEntryPoint({ act, argumentCount: 3, valid, allowedError: "a TypeError" });

  await open.close();
  const again = await fileCheckpoint(path).open();
  expect(await entriesOf(again)).toEqual([...stored]);
  await again.close();
  expect(stored.size).toBeGreaterThan(0);
});

it("For any options, readSnapshot reads or rejects with an SDK error, and leaves no lock", async () => {
  const { audience, folder } = createAudience(2);
  const act = async (given: unknown) => {
    const options = given as ReadSnapshotOptions;
    const { file } = Object(options) as { file?: unknown };
    // It writes into this folder alone.
    const inFolder =
      typeof file === "string" ? { ...options, file: join(folder, `f${file.length}`) } : options;
    const today = await readSnapshot(audience, inFolder);
    expect(today.size).toBe(2);
    today.close();
  };
  const valid = [{ file: "audience.ndjson", fields: "all", priority: 3, organization: "acme" }];
  await tryEntryPoint({ act, valid: [valid] });
  await tryEntryPoint({
    act: (client) => readSnapshot(client as typeof audience, { file: join(folder, "x") }),
    valid: [[]],
  });
  expect(readdirSync(folder).filter((name) => name.endsWith(".lock"))).toEqual([]);
});

it("For any path, openSnapshot rejects with an SDK error", async () => {
  await tryEntryPoint({ act: (file) => openSnapshot(file as string), valid: [["audience.ndjson"]] });
});

it("For any question, a snapshot answers or throws an SDK error", async () => {
  const { audience, file } = createAudience(2);
  using today = await readSnapshot(audience, { file });
  const find = (query: unknown) => today.find(query as SnapshotQuery);
  await tryEntryPoint({ act: find, valid: [[{ email: "person-0@example.com" }, { id: "id-1" }]] });
  const changes = (earlier: unknown) => collect(today.changesSince(earlier as Snapshot));
  await tryEntryPoint({ act: changes, valid: [["yesterday"]] });
  const refusals = (last: unknown) => collect(today.refusalsSince(last as Snapshot));
  await tryEntryPoint({ act: refusals, valid: [["yesterday"]] });
});

/** The mock runs in no production process. */
const ofMock = { allowedError: "a TypeError" } as const;

describe("For any arguments, a function of the mock returns its value or throws a TypeError", () => {
  it("addFault", async () => {
    const mock = createMockService();
    const act = async (fault: unknown) => {
      mock.reset();
      mock.addFault(fault as MockFault);
    };
    const valid = [{ kind: "slow-body", operation: "v1.events.send", times: 1, delayMs: 5, location: "x" }];
    await tryEntryPoint({ act, valid: [valid], ...ofMock });
  });

  it("organization", async () => {
    const mock = createMockService();
    const act = (id: unknown) => mock.organization(id as string);
    await tryEntryPoint({ act, valid: [["mock-organization"]], ...ofMock });
  });

  it("unsubscribe, confirm and asksAgain", async () => {
    const contacts = [{ email: "ada@example.com", double_opt_in: true }];
    const mock = createMockService({ organizations: [{ id: "acme", apiKeys: ["k"], appId: "a", contacts }] });
    const options = { channel: "email", organization: "acme" };
    const unsubscribe = (person: unknown, given: unknown) =>
      mock.unsubscribe(person as string, given as object);
    const confirm = (person: unknown, given: unknown) => mock.confirm(person as string, given as object);
    const asksAgain = (person: unknown, given: unknown) => mock.asksAgain(person as string, given as object);
    for (const act of [unsubscribe, confirm, asksAgain])
      await tryEntryPoint({ act, argumentCount: 2, valid: [["ada@example.com", options]], ...ofMock });
  });

  it("fetch", async () => {
    const mock = createMockService();
    const valid = [
      ["https://audience-mock.example/api/v1/customer/create", { url: "x", method: "GET" }],
      [{ method: "POST", headers: { "x-api-key": "mock-api-key-not-a-secret" }, body: "{}" }],
    ];
    // The reason of an aborted signal is passed on.
    const act = (input: unknown, init: unknown) =>
      mock.fetch(input as string, init as RequestInit).catch((error: unknown) => {
        if (error !== hostileMessage) throw error;
      });
    await tryEntryPoint({ act, argumentCount: 2, valid, ...ofMock });
  });

  it("listen", async () => {
    const act = async (options: unknown) => {
      const listener = await createMockService().listen(options as MockListenOptions);
      await listener.close();
    };
    await tryEntryPoint({ act, valid: [[{ port: 0, allowHosts: ["mock.test"] }]], ...ofMock });
  });

  const job = (mock: MockService) => mock.fetch("https://audience-mock.example/");
  const own = (error: unknown) => {
    const isFound = error instanceof FaultFound || error instanceof ClickUndone;
    if (!(isFound || String(error).includes(hostileMessage))) throw error;
  };
  const construct =
    (found: typeof FaultFound | typeof ClickUndone) =>
    (...given: unknown[]) => {
      try {
        const made: unknown = Reflect.construct(found, given);
        return made;
      } catch (error) {
        return own(error);
      }
    };

  it("everyFault and FaultFound", async () => {
    const kinds = ["500-before"] as const;
    const act = (given: unknown, options: unknown) =>
      everyFault(given as typeof job, options as EveryFaultOptions).catch(own);
    const request = { number: 1, operation: "v1.events.send", route: "POST /api/v1/events" };
    const valid = [[job], [{ kinds, mock: { seed: 7 } }]];
    await tryEntryPoint({ act, argumentCount: 2, valid, ...ofMock });
    const asFound = [kinds, [request], [new Error("c")]];
    await tryEntryPoint({ act: construct(FaultFound), argumentCount: 3, valid: asFound, ...ofMock });
  });

  it("everyClick and ClickUndone", async () => {
    const act = (given: unknown, options: unknown) =>
      everyClick(given as typeof job, options as EveryClickOptions).catch(own);
    const finding = { person: "ada", channel: "email", click: { when: "after-last" } };
    const valid = [[job], [{ people: ["ada"], mock: { seed: 7 } }]];
    await tryEntryPoint({ act, argumentCount: 2, valid, ...ofMock });
    const asFound = [[finding], [{ error: new Error("c") }]];
    await tryEntryPoint({ act: construct(ClickUndone), argumentCount: 2, valid: asFound, ...ofMock });
  });

  it("mswHandlers", async () => {
    const mock = createMockService();
    const act = (given: unknown, options: unknown) =>
      mswHandlers(given as typeof mock, options as MswHandlersOptions).length;
    const valid = [[mock], [{ baseUrl: "https://a.example", baseUrlV2: "https://b.example/" }]];
    await tryEntryPoint({ act, argumentCount: 2, valid, ...ofMock });
    await tryEntryPoint({ act: (options) => act(mock, options), valid: [valid[1] ?? []], ...ofMock });
  });
});
