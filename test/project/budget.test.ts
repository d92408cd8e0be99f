import { afterAll, expect, it } from "vitest";
import budget from "./budget.json" with { type: "json" };
import { linesByRoom } from "./source-files.ts";

const written: Record<string, number> = budget;
const rooms = linesByRoom();

it.each(Object.entries(rooms))("The room %s, of %d lines, is within its budget", (room, lines) => {
  expect(lines, `${room} in test/project/budget.json`).toBeLessThanOrEqual(written[room] ?? 0);
});

afterAll(() => {
  const low = Object.entries(written).filter(([room, bound]) => (rooms[room] ?? 0) < bound * 0.9);
  if (low.length === 0) return;
  const names = low.map(([room, bound]) => `${room} (${rooms[room] ?? 0} of ${bound})`).join(", ");
  process.stdout.write(`npm run budget lowers the figures of ${names}\n`);
});
