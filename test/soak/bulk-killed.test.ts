import { it } from "vitest";
import { killedImport } from "../bulk/killed-import/killed-import.ts";
import { expectNothingLostOrDoubled } from "../bulk/killed-import/rules.ts";

it("An import of 2,000 rows that is killed twenty times loses no row, and sends no row again that is recorded as done", async () => {
  const killed = await killedImport({ rows: 2_000, kills: 20, concurrency: 10, longestLifeMs: 600 });

  const sent = killed.lives.flatMap((life) => life.sent);
  console.log({
    perLife: killed.lives.map((life) => life.sent.length).join(" "),
    requests: sent.length,
    sentTwice: sent.length - new Set(sent).size,
    ...killed.summary,
    ids: killed.summary.ids.length,
  });
  expectNothingLostOrDoubled(killed, 10);
});
