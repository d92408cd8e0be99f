import { writeFileSync } from "node:fs";
import budget from "./budget.json" with { type: "json" };
import { linesByRoom } from "./source-files.ts";

// Lowers the figures of the budget to the lines of today, and adds new rooms: npm run budget
const written: Record<string, number> = budget;
const rooms = Object.entries(linesByRoom()).map(([room, lines]) => [
  room,
  Math.min(lines, written[room] ?? lines),
]);
const file = new URL("budget.json", import.meta.url);
writeFileSync(file, `${JSON.stringify(Object.fromEntries(rooms), undefined, 2)}\n`);
