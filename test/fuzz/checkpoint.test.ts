import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { expect, it, onTestFinished } from "vitest";
import { tryEntryPoint } from "./try-entry-point.ts";

it("For any arguments, fileCheckpoint returns a checkpoint or throws a TypeError, and touches no file", async () => {
  await tryEntryPoint(
    { act: (path) => fileCheckpoint(path as string), valid: [["a.ckpt"]], allowedError: "a TypeError" },
    500,
  );
});

it("For any arguments, an open checkpoint records the value or throws a TypeError, and the file stays readable", async () => {
  const folder = mkdtempSync(join(tmpdir(), "audience-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "rows.ckpt");
  const open = await fileCheckpoint(path).open();
  const act = async (key: unknown, value: unknown) => {
    const before = statSync(path).size;
    try {
      await open.set(key as string, value as string);
    } catch (error) {
      expect(statSync(path).size).toBe(before);
      void open.get(key as string);
      throw error;
    }
    // Not awaited: the value may have a `then`.
    const kept: unknown = open.get(key as string);
    expect(JSON.stringify(kept)).toBe(JSON.stringify(value));
  };
  const value = "succeeded";
  const valid = [["row", "an other row"], [value]];
  await tryEntryPoint({ act, argumentCount: 2, valid, allowedError: "a TypeError" }, 300);
  await tryEntryPoint({ act: (key) => act(key, value), valid: [["row"]], allowedError: "a TypeError" }, 300);

  await open.close();
  const again = await fileCheckpoint(path).open();
  expect(await again.get("a row that nobody named")).toBeUndefined();
  await again.close();
});
