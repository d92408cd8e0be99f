import { expect, it } from "vitest";
import { killedImport } from "./killed-import/killed-import.ts";
import { expectNothingLostOrDoubled } from "./killed-import/rules.ts";

it("An import that is killed three times loses no row, and sends no row again that is recorded as done", async () => {
  const killed = await killedImport({ rows: 200, kills: 3, concurrency: 10, longestLifeMs: 250 });

  expectNothingLostOrDoubled(killed, 10);
  expect(killed.lives.map(({ sent }) => sent.length > 0)).toEqual([true, true, true, true]);
});
