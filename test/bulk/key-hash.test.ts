import { expect, it } from "vitest";
import { hashOf } from "../../src/bulk/key-hash.ts";

it.each([
  ["addresses", (index: number) => `row-${index}@example.com`],
  ["numbers", (index: number) => String(index)],
  [
    "strings that differ in little but their length",
    (index: number) => "x".repeat(index % 1_000) + Math.floor(index / 1_000),
  ],
])("Similar keys have different hashes: %s", (_, keyOf) => {
  const hashes = new Set<number>();
  for (let index = 0; index < 50_000; index++) hashes.add(hashOf(keyOf(index)));

  expect(hashes.size).toBe(50_000);
});

it("A hash is an integer of 53 bits, and the same in each run", () => {
  for (const key of ["", "row-1", "ü", "\u{1f600}".repeat(1_000)]) {
    expect(Number.isSafeInteger(hashOf(key))).toBe(true);
    expect(hashOf(key)).toBe(hashOf(key));
    expect(hashOf(key)).toBeGreaterThanOrEqual(0);
  }
});
