// What a program pays before its first answer: loading the client, making one, and a first call (on a fetch in memory),
// each over an empty program and as a multiple of all three of ours, beside other clients. To be met: openai without a
// call at least x 1, @anthropic-ai/sdk without a call at least x 2.
// `npx tsx test/benchmark/import.ts [rounds]`. All take turns in each round; medians of whole processes.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { installPeers } from "./peers/install.ts";
import { others, own, withACall, type Program } from "./peers/programs.ts";

const rounds = Number(process.argv[2] ?? 15);
const { folders, remove } = await installPeers();

interface Cost {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** How long one process takes, by the clock and on the processor; the latter hardly depends on what else runs. */
function run(folder: string, file: string): Cost {
  const start = performance.now();
  const cpu = execFileSync(process.execPath, [file], { cwd: folder, encoding: "utf8" });
  return { wallMs: performance.now() - start, cpuMs: Number(cpu) };
}

const tellCpu = `process.once("exit", () => { const { user, system } = process.cpuUsage(); console.log((user + system) / 1000); });`;

function place({ name, from, text }: Program) {
  const folder = folders.get(from);
  if (folder === undefined) return [];
  const file = `measured-${name.replaceAll(/\W+/g, "-")}.mjs`;
  writeFileSync(join(folder, file), `${text}\n${tellCpu}`);
  return [{ name, folder, file, costs: [] as Cost[] }];
}

function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

try {
  const nothing = { name: "nothing", from: "audience-sdk", text: "" };
  const all = [nothing, ...own, ...others].flatMap(place);
  for (let round = 0; round < rounds; round += 1) {
    for (const { folder, file, costs } of all) costs.push(run(folder, file));
  }
  const medians = all.map(({ name, costs }) => ({
    name,
    wallMs: median(costs.map(({ wallMs }) => wallMs)),
    cpuMs: median(costs.map(({ cpuMs }) => cpuMs)),
  }));
  const [empty] = medians;
  const whole = medians.find(({ name }) => name === withACall);
  if (empty === undefined || whole === undefined) throw new Error("nothing was measured");
  const shown = (cost: Cost, of: keyof Cost) => {
    const over = cost[of] - empty[of];
    const times = over / (whole[of] - empty[of]);
    return `${over.toFixed(1).padStart(7)} ms, x ${times.toFixed(2)}`;
  };
  process.stdout.write(
    `an empty program: ${empty.wallMs.toFixed(0)} ms, ${empty.cpuMs.toFixed(0)} ms of CPU\n`,
  );
  for (const cost of medians.slice(1)) {
    process.stdout.write(`${cost.name.padEnd(30)}${shown(cost, "wallMs")}   CPU ${shown(cost, "cpuMs")}\n`);
  }
} finally {
  await remove();
}
