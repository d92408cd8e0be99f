// The clients over real HTTP on loopback, each in a process of its own: `clients/program.mjs`. They take turns in each round.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Installed, type Peers, versionOf } from "./install.ts";
import { type Client, type Cost, type Measure, type Round, measures } from "./measures.ts";
import { figure, missing, table } from "./report.ts";
import { sizesOf } from "./sizes.ts";

export const clientPeers: Peers = {
  fetch: [],
  ky: ["ky"],
  stripe: ["stripe"],
  openai: ["openai"],
  "@anthropic-ai/sdk": ["@anthropic-ai/sdk"],
  "@octokit/core + throttling": ["@octokit/core", "@octokit/plugin-throttling"],
  resend: ["resend"],
  "klaviyo-api": ["klaviyo-api"],
  "@hubspot/api-client": ["@hubspot/api-client"],
};

const ours = "audience-sdk";
/** Their program in `clients/`, where it is not named as they are. */
const programs: Readonly<Record<string, string>> = {
  "@anthropic-ai/sdk": "anthropic",
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
    "### Start and size",
    tableOf(measured, measures.start),
    ...behind(measured, measures.start),
    "### Calls",
    tableOf(measured, measures.calls),
    ...behind(measured, measures.calls),
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
  const service = spawn(process.execPath, [fileURLToPath(new URL("clients/service.mjs", import.meta.url))], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const failed = new Set<Client>();
  try {
    const [urls] = (await once(service.stdout, "data")) as [Buffer];
    for (let round = 0; round < rounds; round += 1) {
      const { constructed: empty } = await run<Pick<Round, "constructed">>(
        first.folder,
        "empty",
        String(urls),
      );
      for (const client of clients) {
        if (failed.has(client)) continue;
        try {
          const figures = await run<Round>(client.folder, client.program, String(urls));
          client.rounds.push({
            ...figures,
            constructed: minus(figures.constructed, empty),
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
    service.kill();
  }
}

/** Not below 0: on a busy machine an empty program may take longer. */
function minus(cost: Cost, empty: Cost): Cost {
  return {
    wallMs: Math.max(0, cost.wallMs - empty.wallMs),
    cpuMs: Math.max(0, cost.cpuMs - empty.cpuMs),
  };
}

async function run<Figures>(folder: string, program: string, urls: string): Promise<Figures> {
  const args = ["--expose-gc", "program.mjs", program, urls];
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
      return client === own ? `${figure(of(own))} ${unit}` : `× ${figure(of(client) / of(own))}`;
    }),
  ]);
  return table(["", ...columns.map(({ name }) => name)], rows);
}

function behind(clients: readonly Client[], columns: readonly Measure[]): string[] {
  const [own, ...others] = clients;
  if (own === undefined) return [];
  const lines = columns.flatMap(({ name, of, reason }) => {
    const ahead = others.filter((client) => of(client) < of(own) * 0.95).map((client) => client.name);
    return ahead.length === 0 ? [] : [`- **${name}**: less with ${ahead.join(", ")}. ${reason}`];
  });
  return lines.length === 0 ? [] : ["Where ours is not ahead:", lines.join("\n")];
}

function versions({ name, folder }: Client): string {
  const packages = name === ours ? [ours] : (clientPeers[name] ?? []);
  if (packages.length === 0) return `Node's own ${name}`;
  return packages.map((one) => `${one} ${versionOf(folder, one)}`).join(" with ");
}
