import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileCheckpoint, type RecordedState } from "audience-sdk/checkpoint";
import { expect, it, onTestFinished } from "vitest";

it("a state that there is not, and a key that is no text, are refused, and what is on record can be read again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "audience-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const checkpoint = fileCheckpoint(join(folder, "rows.ckpt"));
  const open = await checkpoint.open();

  await open.record("a", "succeeded");
  // As a caller without types may.
  expect(() => open.record("b", "done" as RecordedState)).toThrow(TypeError);
  expect(() => open.record(5 as unknown as string, "succeeded")).toThrow(TypeError);
  expect(() => open.stateOf(new Uint8Array(1) as unknown as string)).toThrow(TypeError);
  await open.record("c", "in-doubt");
  await open.close();

  const again = await checkpoint.open();
  expect(["a", "b", "c"].map((key) => again.stateOf(key))).toEqual(["succeeded", undefined, "in-doubt"]);
  await again.close();
});
