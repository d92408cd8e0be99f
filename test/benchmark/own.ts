// What our own client costs beside fetch and ky in one process, and under load: `clients/ratios.mjs`, `clients/loads.mjs`.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { Installed } from "./install.ts";
import { figure, median, table } from "./report.ts";

const names = ["fetch", "ky", "withoutLimiter", "withLimiter"] as const;
type Costs = Record<"get" | "upsert", Record<(typeof names)[number], number>>;

/** The CPU of a `get` and of an `upsert`, as multiples of ky's in the same round. */
export async function compareCalls(folders: Installed["folders"]): Promise<string> {
  const own = folders.get("audience-sdk");
  const ky = folders.get("ky");
  if (own === undefined || ky === undefined) return "NOT MEASURED: ky is not installed.";
  const module = pathToFileURL(createRequire(join(ky, "program.mjs")).resolve("ky")).href;
  const server = spawn(process.execPath, [join(own, "service.mjs")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [printed] = (await once(server.stdout, "data")) as [Buffer];
    const costs = await output<Costs[]>(own, ["ratios.mjs", String(printed), module]);
    const rows = (["get", "upsert"] as const).map((operation) => [
      `\`${operation}\``,
      `${figure(median(costs.map((cost) => cost[operation].ky)))} ms`,
      ...(["fetch", "withoutLimiter", "withLimiter"] as const).map(
        (name) => `×${figure(median(costs.map((cost) => cost[operation][name] / cost[operation].ky)))}`,
      ),
    ]);
    return table(["CPU of a call", "ky", "fetch", "ours without a limiter", "ours"], rows);
  } finally {
    server.kill();
  }
}

/** What each load takes, and what is promised of it. */
const loads = [
  ["waitingCalls", "10,000 calls made in one turn: the turn", "blockedMs", "ms", "1,000 ms"],
  ["refusedCalls", "50,000 calls beyond `maxQueued`: CPU", "cpuMs", "ms", "1,000 ms"],
  ["rows", "a changed row, with its look and its record: CPU", "changedRowMs", "ms", "1.2 ms"],
  ["rows", "a row without a checkpoint: CPU", "plainRowMs", "ms", ""],
  ["recordedRows", "100,000 recorded rows: time to open", "openMs", "ms", "1,000 ms"],
  ["recordedRows", "100,000 recorded rows: memory", "heldBytes", "MB", "30 MB"],
] as const;

/** The medians of our own loads, in a process of its own each time. */
export async function measureLoads(folders: Installed["folders"], rounds: number): Promise<string> {
  const own = folders.get("audience-sdk");
  if (own === undefined) throw new Error("our own package is not installed");
  const files = mkdtempSync(join(tmpdir(), "audience-sdk-loads-"));
  const figures: Record<string, number[]> = {};
  try {
    for (let round = 0; round < rounds; round += 1)
      for (const load of new Set(loads.map(([name]) => name))) {
        const folder = mkdtempSync(join(files, "round-"));
        const measured = await output<Record<string, number>>(own, [
          "--expose-gc",
          "loads.mjs",
          load,
          folder,
        ]);
        for (const [member, value] of Object.entries(measured)) (figures[member] ??= []).push(value);
      }
  } finally {
    rmSync(files, { recursive: true, force: true });
  }
  const rows = loads.map(([, name, member, unit, bound]) => {
    const value = median(figures[member] ?? []);
    return [name, `${figure(unit === "MB" ? value / 1e6 : value)} ${unit}`, bound];
  });
  return table(["a load of ours", "takes", "at most"], rows);
}

async function output<Figures>(cwd: string, args: readonly string[]): Promise<Figures> {
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, timeout: 300_000 });
  const figures: Figures = JSON.parse(stdout);
  return figures;
}
