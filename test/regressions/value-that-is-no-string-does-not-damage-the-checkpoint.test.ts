import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { expect, it, onTestFinished } from "vitest";

it.each([
  ["null", null],
  ["an object", { done: true }],
  ["a number", 5],
  ["a function", () => 1],
])("a value that is %s is refused, and the recorded values stay readable", async (_, value) => {
  const { checkpoint, open } = await opened();

  await open.set("a", "1");
  // A caller in JavaScript can pass this.
  expect(() => open.set("b", value as never)).toThrow(TypeError);
  await open.set("c", "3");
  await open.close();

  const again = await checkpoint.open();
  expect(["a", "b", "c"].map((key) => again.get(key))).toEqual(["1", undefined, "3"]);
  await again.close();
});

it.each([5, new Uint8Array(1), undefined])("a key that is no string is refused: %o", async (key) => {
  const { open } = await opened();

  expect(() => open.set(key as never, "1")).toThrow(TypeError);
  expect(() => open.get(key as never)).toThrow(TypeError);
  await open.close();
});

async function opened() {
  const folder = mkdtempSync(join(tmpdir(), "audience-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const checkpoint = fileCheckpoint(join(folder, "rows.ckpt"));
  return { checkpoint, open: await checkpoint.open() };
}
