import { readdirSync } from "node:fs";
import { join } from "node:path";
import {
  openSnapshot,
  readSnapshot,
  type ReadSnapshotOptions,
  type Snapshot,
  type SnapshotQuery,
} from "audience-sdk/snapshot";
import { expect, it } from "vitest";
import { collect, createAudience } from "../snapshot/fixture.ts";
import { tryEntryPoint } from "./try-entry-point.ts";

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
  await tryEntryPoint({ act, valid: [valid] }, 200);
  await tryEntryPoint(
    { act: (client) => readSnapshot(client as typeof audience, { file: join(folder, "x") }), valid: [[]] },
    100,
  );
  expect(readdirSync(folder).filter((name) => name.includes(".lock-"))).toEqual([]);
});

it("For any path, openSnapshot rejects with an SDK error", async () => {
  await tryEntryPoint({ act: (file) => openSnapshot(file as string), valid: [["audience.ndjson"]] }, 300);
});

it("For any question, a snapshot answers or throws an SDK error", async () => {
  const { audience, file } = createAudience(2);
  using today = await readSnapshot(audience, { file });
  const find = (query: unknown) => today.find(query as SnapshotQuery);
  await tryEntryPoint({ act: find, valid: [[{ email: "person-0@example.com" }, { id: "id-1" }]] }, 300);
  const changes = (earlier: unknown) => collect(today.changesSince(earlier as Snapshot));
  await tryEntryPoint({ act: changes, valid: [["yesterday"]] }, 200);
});
