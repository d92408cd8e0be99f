import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { expect, it, onTestFinished } from "vitest";

it.each([
  ["a string", "done"],
  ["null", null],
  ["an array", [1]],
  ["a number", 5],
  ["a function", () => 1],
  ["an object that JSON makes nothing of", { toJSON: () => undefined }],
  ["an object that JSON makes a string of", new Date(0)],
  ["an object that JSON cannot carry", { n: 1n }],
])("a value that is %s is refused, and what is recorded can be read again", async (_, value) => {
  const { checkpoint, open } = await opened();

  await open.set("a", { n: 1 });
  // As a caller without types may.
  expect(() => open.set("b", value as never)).toThrow(TypeError);
  await open.set("c", { n: 3 });
  await open.close();

  const again = await checkpoint.open();
  expect(["a", "b", "c"].map((key) => again.get(key))).toEqual([{ n: 1 }, undefined, { n: 3 }]);
  await again.close();
});

it.each([5, new Uint8Array(1), undefined])("a key that is no string is refused: %o", async (key) => {
  const { open } = await opened();

  expect(() => open.set(key as never, { n: 1 })).toThrow(TypeError);
  expect(() => open.get(key as never)).toThrow(TypeError);
  await open.close();
});

async function opened() {
  const folder = mkdtempSync(join(tmpdir(), "audience-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const checkpoint = fileCheckpoint(join(folder, "rows.ckpt"));
  return { checkpoint, open: await checkpoint.open() };
}
