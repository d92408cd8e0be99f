import { expect, it } from "vitest";
import { type KeyHash, KeyTable, type TableState } from "../../src/checkpoint/key-table.ts";

/** Hashes that all point to the same 256 slots, and differ in one word only from many others. */
const hashes = Array.from(
  { length: 700 },
  (_, index) =>
    [1_024 * (index % 2) + (index % 256), Math.floor(index / 256), 1 + Math.floor(index / 512)] as const,
);

it.each([0, 700])(
  "A table with room for %i keys keeps what was set last of each, however they crowd",
  (room) => {
    const table = new KeyTable(room);
    const states = new Map<number, TableState>();
    for (let step = 0; step < 900; step++) {
      const index = (step * 1_741) % hashes.length;
      const state = (step % 3) as TableState;
      table.set(...hashes[index]!, state);
      states.set(index, state);
    }

    expect(hashes.map((hash) => table.get(...hash))).toEqual(hashes.map((_, index) => states.get(index)));
  },
);

it("A hash that differs from the one on record in a single word is another", () => {
  const table = new KeyTable();
  table.set(1, 2, 3, 1);

  const others: KeyHash[] = [
    [1_025, 2, 3],
    [1, 9, 3],
    [1, 2, 9],
    [1, 0, 3],
    [1, 0, 0],
    [0, 2, 3],
  ];

  expect(others.map((hash) => table.get(...hash))).toEqual(others.map(() => 0));
  expect(table.get(1, 2, 3)).toBe(1);
});

it.each([
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
])("A slot is taken by a hash of which one word alone is not 0: %i, %i, %i", (first, second, third) => {
  const table = new KeyTable();
  table.set(first, second, third, 2);
  // Its first slot is the same.
  table.set(first, 7, third, 1);

  expect([table.get(first, second, third), table.get(first, 7, third)]).toEqual([2, 1]);
});
