import { it } from "vitest";
import { Session } from "node:inspector/promises";
import { writeFileSync } from "node:fs";
import { runSeed } from "./run-seed.ts";
it("tries", async () => {
  const from = Number(process.env["FROM"] ?? 1), n = Number(process.env["N"] ?? 20);
  let calls = 0, deps = 0; const broken: Record<string, number> = {}; let virt = 0;
  const count: Record<string, number> = {};
  const add = (k: string) => void (count[k] = (count[k] ?? 0) + 1);
  const session = new Session();
  if (process.env["PROF"]) { session.connect(); await session.post("Profiler.enable"); await session.post("Profiler.start"); }
  const cpu0 = process.cpuUsage();
  const startReal = process.hrtime.bigint();
  const slow: [number, number][] = [];
  for (let seed = from; seed < from + n; seed++) {
    const b = process.hrtime.bigint();
    const { broken: br, world } = await runSeed(seed);
    slow.push([seed, Number(process.hrtime.bigint() - b) / 1e6]);
    calls += world.log.calls.length; deps += world.log.departures.length; virt += world.time.now();
    for (const r of world.log.runs) { add("run"); for (const x of r.results) add("row " + x.status); if (r.wasKilled) add("run killed"); if (r.wasLeft) add("run left"); if (r.error) add("run error " + (r.error as any).code + " " + (r.error as any).message.slice(0, 60)); }
    for (const c of world.log.calls) if (c.error) add((c.input?.kind ?? "read") + " " + (c.error as any).name + " " + (c.error as any).outcome + ((c.error as any).code ? "" : String(c.error)));
    for (const br1 of br) add("BROKEN " + br1.replace(/\d+/g, "#").slice(0, 80));
    if (br.length) { console.log(seed, br.slice(0, Number(process.env["SHOW"] ?? 3))); broken["n"] = (broken["n"] ?? 0) + 1; }
  }
  if (process.env["PROF"]) { const { profile } = await session.post("Profiler.stop"); writeFileSync("/tmp/chaos/p.cpuprofile", JSON.stringify(profile)); }
  console.log(Object.entries(count).sort().map(([k, v]) => `${v} ${k}`).join("\n"));
  const cpu = process.cpuUsage(cpu0);
  console.log({ cpuMs: (cpu.user + cpu.system) / 1000 / n, calls: calls / n, deps: deps / n, virtS: virt / n / 1000, msPerSeed: Number(process.hrtime.bigint() - startReal) / 1e6 / n, broken, slow: slow.sort((a, b) => b[1] - a[1]).slice(0, 5) });
});
