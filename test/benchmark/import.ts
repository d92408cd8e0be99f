// What a program pays before its first answer: loading the client, making one, and a first call (on a fetch in memory),
// each over an empty program, beside other clients, our dependencies alone, and ourselves in one file.
// `npx tsx test/benchmark/import.ts [rounds]`. All take turns in each round; medians of whole processes.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { installPeers } from "./peers/install.ts";
import { bundled, dependencies, others, own, type Program } from "./peers/programs.ts";

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

function place({ name, from, text }: Program, inOneFile: boolean) {
  const folder = folders.get(from);
  if (folder === undefined) return [];
  const file = `measured-${name.replaceAll(/\W+/g, "-")}.mjs`;
  const whole = `${text}\n${tellCpu}`;
  if (inOneFile) {
    const options = { bundle: true, format: "esm", platform: "node", target: "node20.19" } as const;
    buildSync({
      stdin: { contents: whole, resolveDir: folder },
      ...options,
      minify: true,
      outfile: join(folder, file),
    });
  } else writeFileSync(join(folder, file), whole);
  return [{ name, folder, file, costs: [] as Cost[] }];
}

function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

try {
  const empty = place({ name: "nothing", from: "audience-sdk", text: "" }, false);
  const plain = [...own, ...dependencies, ...others].flatMap((program) => place(program, false));
  const floor = bundled.flatMap((program) => place(program, true));
  const all = [...empty, ...plain, ...floor];
  for (let round = 0; round < rounds; round += 1) {
    for (const { folder, file, costs } of all) costs.push(run(folder, file));
  }
  const medians = all.map(({ name, costs }) => ({
    name,
    wallMs: median(costs.map(({ wallMs }) => wallMs)),
    cpuMs: median(costs.map(({ cpuMs }) => cpuMs)),
  }));
  const [nothing, first] = medians;
  if (nothing === undefined || first === undefined) throw new Error("nothing was measured");
  const over = (cost: Cost, of: keyof Cost) => cost[of] - nothing[of];
  process.stdout.write(
    `an empty program: ${nothing.wallMs.toFixed(0)} ms, ${nothing.cpuMs.toFixed(0)} ms of CPU\n`,
  );
  for (const cost of medians.slice(1)) {
    const figures = [over(cost, "wallMs"), over(cost, "cpuMs")].map((ms) => ms.toFixed(1).padStart(7));
    const ratio = (over(cost, "cpuMs") / over(first, "cpuMs")).toFixed(2).padStart(5);
    process.stdout.write(`${cost.name.padEnd(40)}${figures[0]} ms ${figures[1]} ms of CPU, x ${ratio}\n`);
  }
} finally {
  await remove();
}
