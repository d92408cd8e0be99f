import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileCheckpoint, type OpenCheckpoint } from "audience-sdk/checkpoint";
import {
  ClickUndone,
  createMockService,
  everyClick,
  everyFault,
  FaultFound,
  type MockListenOptions,
  type MockService,
} from "audience-sdk/mock";
import { mswHandlers } from "audience-sdk/mock/msw";
import {
  openSnapshot,
  readSnapshot,
  type ReadSnapshotOptions,
  type Snapshot,
  type SnapshotQuery,
} from "audience-sdk/snapshot";
import { expect, it, onTestFinished } from "vitest";
import { collect, createAudience } from "../snapshot/fixture.ts";
import { hostileMessage, tryEntryPoint } from "./try-entry-point.ts";

it("For any arguments, fileCheckpoint returns a checkpoint or throws a TypeError, and touches no file", async () => {
  await tryEntryPoint((path) => fileCheckpoint(path as string), [["a.ckpt"]], "a TypeError");
});

it("For any name and line, an open checkpoint stores them or throws a TypeError, and the file stays readable", async () => {
  const folder = mkdtempSync(join(tmpdir(), "audience-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "rows.ckpt");
  const entriesOf = ({ entries }: OpenCheckpoint) => collect(entries);
  const open = await fileCheckpoint(path).open();
  // They are read first.
  expect(await entriesOf(open)).toEqual([]);
  const stored = new Map<unknown, unknown>();
  const put = async (name: unknown, line: unknown, options: unknown) => {
    const before = statSync(path).size;
    try {
      await open.put(name as string, line as string, options as { flush: boolean });
    } catch (error) {
      expect(statSync(path).size).toBe(before);
      throw error;
    }
    stored.set(name, line);
  };
  await tryEntryPoint(put, [["row:1", "row:2"], ["a line", ""], [{ flush: true }]], "a TypeError");

  await open.close();
  const again = await fileCheckpoint(path).open();
  expect(await entriesOf(again)).toEqual([...stored]);
  await again.close();
  expect(stored.size).toBeGreaterThan(0);
});

it("For any arguments, a snapshot is read, opened and asked, or it throws an SDK error, and leaves no lock", async () => {
  const { audience, file, folder } = createAudience(2);
  const read = async (client: unknown, given: unknown) => {
    const { file: name } = Object(given) as { file?: unknown };
    // It writes into this folder alone.
    const inFolder = typeof name === "string" && { file: join(folder, `f${name.length}`) };
    const options = inFolder ? { ...(given as object), ...inFolder } : given;
    const snapshot = await readSnapshot(client as typeof audience, options as ReadSnapshotOptions);
    expect(snapshot.size).toBe(2);
    snapshot.close();
  };
  const options = { file: "audience.ndjson", fields: "all", priority: 3, organization: "acme" };
  await tryEntryPoint(read, [[audience], [options]]);
  await tryEntryPoint((path) => openSnapshot(path as string), [["audience.ndjson"]]);

  using today = await readSnapshot(audience, { file });
  const find = (query: unknown) => today.find(query as SnapshotQuery);
  await tryEntryPoint(find, [[{ email: "person-0@example.com" }, { id: "id-1" }]]);
  await tryEntryPoint((earlier) => collect(today.changesSince(earlier as Snapshot)), [["yesterday"]]);
  await tryEntryPoint((last) => collect(today.refusalsSince(last as Snapshot)), [["yesterday"]]);
  expect(readdirSync(folder).filter((name) => name.endsWith(".lock"))).toEqual([]);
});

const contacts = [{ email: "ada@example.com", double_opt_in: true }];
const mock = createMockService({ organizations: [{ id: "acme", apiKeys: ["k"], appId: "a", contacts }] });
const job = (each: MockService) => each.fetch("https://audience-mock.example/");
const person = [["ada@example.com"], [{ channel: "email", organization: "acme" }]];
const fault = { kind: "slow-body", operation: "v1.events.send", times: 1, delayMs: 5, location: "x" };

/** What a job or a signal of the caller's own does is passed on. */
function unlessOwn(error: unknown): void {
  const isFound = error instanceof FaultFound || error instanceof ClickUndone;
  if (!(isFound || String(error).includes(hostileMessage))) throw error;
}

it.each<[string, (...values: never[]) => unknown, (readonly unknown[])[]]>([
  ["addFault", mock.addFault, [[fault]]],
  ["organization", mock.organization, [["acme"]]],
  ["unsubscribe", mock.unsubscribe, person],
  ["confirm", mock.confirm, person],
  ["asksAgain", mock.asksAgain, person],
  [
    "fetch",
    (url: string, init: RequestInit) => createMockService().fetch(url, init).catch(unlessOwn),
    [["https://audience-mock.example/api/v1/customer"], [{ method: "POST", headers: {}, body: "{}" }]],
  ],
  [
    "listen",
    async (options: MockListenOptions) => (await createMockService().listen(options)).close(),
    [[{ port: 0, allowHosts: ["mock.test"] }]],
  ],
  [
    "everyFault",
    (given: typeof job, options: object) => everyFault(given, options).catch(unlessOwn),
    [[job], [{ kinds: ["500-before"], mock: { seed: 7 } }]],
  ],
  [
    "everyClick",
    (given: typeof job, options: object) => everyClick(given, options).catch(unlessOwn),
    [[job], [{ people: ["ada"], mock: { seed: 7 } }]],
  ],
  ["mswHandlers", mswHandlers, [[mock], [{ baseUrl: "https://a.example", baseUrlV2: "https://b.example/" }]]],
])("For any arguments, %s of the mock does its work, or throws a TypeError", async (_, act, valid) => {
  await tryEntryPoint((...values) => act(...(values as never[])), valid, "a TypeError");
});
