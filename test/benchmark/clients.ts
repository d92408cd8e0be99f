// The clients over real HTTP on loopback, each in a process of its own: `clients/program.mjs`. They take turns in each round.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Installed, type Peers, type Sizes, sizesOf, versionOf } from "./install.ts";
import { figure, median, missing, table } from "./report.ts";

interface Cost {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** The output of `clients/program.mjs`; what precedes `perCall` is without what an empty program takes. */
interface Round {
  readonly constructed: Cost;
  /** As CommonJS. */
  readonly required: Cost;
  readonly called: Cost;
  readonly perCall: Cost;
  readonly perPage: Cost;
  readonly perWorkedPage: Pick<Cost, "wallMs">;
  readonly waitingBytes: number;
}

interface Client {
  readonly name: string;
  readonly program: string;
  readonly folder: string;
  readonly sizes: Sizes;
  readonly rounds: Round[];
}

interface Measure {
  readonly name: string;
  /** Without one the figure is a count, and shown as it is. */
  readonly unit?: string;
  readonly of: (client: Client) => number;
  /** Why others are ahead of us, where they are. */
  readonly reason: string;
}

export const clientPeers: Peers = {
  fetch: [],
  // npm would take version 1 on Node 20, for its `engines`.
  ky: ["ky@2"],
  stripe: ["stripe"],
  openai: ["openai"],
  "@octokit/core + throttling": ["@octokit/core", "@octokit/plugin-throttling"],
  resend: ["resend"],
  "klaviyo-api": ["klaviyo-api"],
  "@hubspot/api-client": ["@hubspot/api-client"],
};

const ours = "audience-sdk";
/** Their program in `clients/`, where it is not named as they are. */
const programs: Readonly<Record<string, string>> = {
  "@octokit/core + throttling": "octokit",
  "klaviyo-api": "klaviyo",
  "@hubspot/api-client": "hubspot",
};

/** The tables of all that could be measured, and the reasons where we are not ahead. */
export async function compareClients(folders: Installed["folders"], rounds: number): Promise<string> {
  const clients: Client[] = [];
  for (const name of [ours, ...Object.keys(clientPeers)]) {
    const folder = folders.get(name);
    const program = programs[name] ?? name;
    if (folder === undefined) continue;
    try {
      clients.push({ name, program, folder, sizes: await sizesOf(folder, program), rounds: [] });
    } catch (error) {
      console.error(`NOT MEASURED: ${name} cannot be bundled: ${String(error)}`);
    }
  }
  await runRounds(clients, rounds);
  const measured = clients.filter((client) => client.rounds.length === rounds);
  return [
    ...Object.entries(measures).flatMap(([title, columns]) => [
      `### ${title}`,
      tableOf(measured, columns),
      ...behind(measured, columns),
    ]),
    `Measured with ${measured.map(versions).join(", ")}.`,
    ...missing(
      [ours, ...Object.keys(clientPeers)],
      measured.map(({ name }) => name),
    ),
  ].join("\n\n");
}

/** All take turns in each round. */
async function runRounds(clients: readonly Client[], rounds: number): Promise<void> {
  const [first] = clients;
  if (first === undefined) throw new Error("there is nothing to measure");
  const server = spawn(process.execPath, [fileURLToPath(new URL("clients/service.mjs", import.meta.url))], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const failed = new Set<Client>();
  try {
    const [printed] = (await once(server.stdout, "data")) as [Buffer];
    for (let round = 0; round < rounds; round += 1) {
      const service = String(printed);
      const start = async ({ folder }: Client, program: string, format: "esm" | "cjs") =>
        (await run<Pick<Round, "constructed">>(folder, program, service, format)).constructed;
      const empty = await start(first, "empty", "esm");
      for (const client of clients) {
        if (failed.has(client)) continue;
        try {
          const figures = await run<Round>(client.folder, client.program, service, "esm");
          client.rounds.push({
            ...figures,
            constructed: minus(figures.constructed, empty),
            required: minus(await start(client, client.program, "cjs"), empty),
            called: minus(figures.called, empty),
          });
        } catch (error) {
          failed.add(client);
          console.error(`NOT MEASURED: ${client.name} failed: ${String(error)}`);
        }
      }
      console.error(`round ${round + 1} of ${rounds}`);
    }
  } finally {
    server.kill();
  }
}

/** Not below 0: on a busy machine an empty program may take longer. */
function minus(cost: Cost, empty: Cost): Cost {
  return {
    wallMs: Math.max(0, cost.wallMs - empty.wallMs),
    cpuMs: Math.max(0, cost.cpuMs - empty.cpuMs),
  };
}

async function run<Figures>(
  folder: string,
  program: string,
  service: string,
  format: "esm" | "cjs",
): Promise<Figures> {
  const args = ["program.mjs", program, service, format];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, timeout: 120_000 });
  const figures: Figures = JSON.parse(stdout);
  return figures;
}

/** Ours in its unit, the others as multiples of ours. */
function tableOf(clients: readonly Client[], columns: readonly Measure[]): string {
  const [own] = clients;
  if (own?.name !== ours) throw new Error("our own client could not be measured");
  const rows = clients.map((client) => [
    client.name,
    ...columns.map(({ of, unit }) => {
      if (unit === undefined) return String(of(client));
      return client === own ? `${figure(of(own))} ${unit}` : `×${figure(of(client) / of(own))}`;
    }),
  ]);
  return table(["", ...columns.map(({ name }) => name)], rows);
}

function behind(clients: readonly Client[], columns: readonly Measure[]): string[] {
  const [own, ...others] = clients;
  if (own === undefined) return [];
  const lines = columns.flatMap(({ name, of, reason }) => {
    const isBehind = others.some((client) => of(client) < of(own) * 0.95);
    return isBehind ? [`- **${name}**: ${reason}`] : [];
  });
  return lines.length === 0 ? [] : ["Where ours is not ahead:", lines.join("\n")];
}

function versions({ name, folder }: Client): string {
  const packages = name === ours ? [ours] : (clientPeers[name] ?? []);
  if (packages.length === 0) return `Node's own ${name}`;
  return packages
    .map((one) => one.replace(/(?<=.)@\d+$/, ""))
    .map((one) => `${one} ${versionOf(folder, one)}`)
    .join(" with ");
}

const medianOf = (pick: (round: Round) => number) => (client: Client) => median(client.rounds.map(pick));

/** By the heading of their table. */
const measures: Readonly<Record<string, readonly Measure[]>> = {
  "Start and size": [
    {
      name: "import + construct, CPU",
      unit: "ms",
      of: medianOf(({ constructed }) => constructed.cpuMs),
      reason:
        "a third is Node's own `fetch`, which ky loads with its import, and others with their first call; a third is zod: the others do not validate.",
    },
    {
      name: "require + construct, CPU",
      unit: "ms",
      of: medianOf(({ required }) => required.cpuMs),
      reason: "likewise.",
    },
    {
      name: "import, construct and a first call, CPU",
      unit: "ms",
      of: medianOf(({ called }) => called.cpuMs),
      reason: "more than half of ours is the first `fetch` of a process alone.",
    },
    {
      name: "bundle, gzip",
      unit: "kB",
      of: ({ sizes }) => sizes.bundleBytes / 1e3,
      reason: "two fifths of ours are zod, and a tenth is bottleneck, which bounds bulk runs.",
    },
    {
      name: "installed",
      unit: "MB",
      of: ({ sizes }) => sizes.installedBytes / 1e6,
      reason: "seven tenths of ours are zod, for its types; npm shares your own copy.",
    },
    {
      name: "packages",
      of: ({ sizes }) => sizes.packages,
      reason: "our second one is zod.",
    },
  ],
  Calls: [
    {
      name: "a call, CPU",
      unit: "ms",
      of: medianOf(({ perCall }) => perCall.cpuMs),
      reason:
        "ours validates, keeps the order of writes, acquires a permit, and reads within bounds; stripe and klaviyo-api use `node:http`, which takes less than `fetch`.",
    },
    {
      name: "a page of 100, CPU",
      unit: "ms",
      of: medianOf(({ perPage }) => perPage.cpuMs),
      reason: "ours checks the id of each item, and that no page comes twice.",
    },
    {
      name: "a page of 20 ms with 20 ms of work, time",
      unit: "ms",
      of: medianOf(({ perWorkedPage }) => perWorkedPage.wallMs),
      reason: "this is the machine's load: only ours fetches the next page during the work.",
    },
    {
      name: "a waiting call, memory",
      unit: "kB",
      of: medianOf(({ waitingBytes }) => waitingBytes / 1e3),
      reason: "ours holds its validated copy of the input, and the steps that follow the wait.",
    },
  ],
};
