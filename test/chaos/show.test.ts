import { it } from "vitest";
import { runSeed } from "./run-seed.ts";
it("shows", async () => {
  const { broken, world } = await runSeed(Number(process.env["SEED"]), Number(process.env["STEPS"] ?? 30));
  const { log } = world;
  console.log(broken.map((x) => x.slice(0, 600)).join("\n"));
  const only = process.env["CALLS"]?.split(",");
  console.log(JSON.stringify(log.closes), JSON.stringify(world.service.variants), JSON.stringify(world.service.rateLimits), "redis", world.redis !== undefined);
  for (const r of log.runs) console.log(JSON.stringify({ ...r, rows: r.rows.length, results: r.results.map((x) => `${x.key}:${x.status}`), error: String(r.error) }));
  for (const c of log.calls) if (!only || only.includes(c.tag)) console.log(c.tag, c.client, c.key, "run@" + c.run?.startedAt, JSON.stringify(c.input), JSON.stringify({ ...c.options, headers: 0 }), c.startedAt, "->", c.settledAt, "aborted", c.abortedAt, String(c.error ?? "ok"), (c.error as any)?.outcome, c.departures.map((d) => `\n    ${d.at}..${d.endedAt} ${d.unsent ?? d.status} wait ${d.waitMs} fault ${d.request?.fault} arrived ${d.request?.arrivedAtMs} applied ${d.request?.applied} ${d.budget}`).join(""));
});
