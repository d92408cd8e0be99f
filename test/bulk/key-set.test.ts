import { expect, it } from "vitest";
import { KeySet } from "../../src/bulk/key-set.ts";

it("A key is new once, among any number of others", () => {
  const keys = Array.from({ length: 3_000 }, (_, index) => `row-${index}@example.com`);
  const set = new KeySet();

  expect(keys.filter((key) => !set.add(key))).toEqual([]);
  expect(keys.filter((key) => set.add(key))).toEqual([]);
  expect(set.add("row-3000@example.com")).toBe(true);
});
