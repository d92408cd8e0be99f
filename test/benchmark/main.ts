// The package beside its peers, in one run: `npm run bench [-- --rounds 9] [--write]`. It installs the peers into a
// temporary folder. `--write` puts the tables and the picture into the guide.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { measureBodies } from "./bodies.ts";
import { clientPeers, compareClients } from "./clients.ts";
import { install } from "./install.ts";
import { compareLimiters, limiterPeers } from "./limiters.ts";
import { compareCalls, measureLoads } from "./own.ts";
import { pictureOf } from "./picture.ts";
import { machine } from "./report.ts";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "7" }, write: { type: "boolean", default: false } },
});
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) throw new TypeError("--rounds must be an integer from 1");

const guide = fileURLToPath(new URL("../../examples/guides/benchmarks.md", import.meta.url));
const picture = fileURLToPath(new URL("../../examples/guides/limits.svg", import.meta.url));

const before = machine();
const { folders, remove } = await install({ ...clientPeers, ...limiterPeers });
try {
  const limiters = await compareLimiters(folders);
  const clients = await compareClients(folders, rounds);
  const text = [
    "### Limiters",
    limiters.text,
    clients,
    "### Beside ky, in one process",
    await compareCalls(folders),
    `Medians of ${rounds} rounds. At the start: ${before}. At the end: ${machine()}.`,
  ].join("\n\n");
  console.log(`${text}\n\n${await measureLoads(folders, rounds)}\n\n${await measureBodies(rounds)}`);
  if (values.write) {
    const [intro] = readFileSync(guide, "utf8").split("## Figures\n");
    writeFileSync(guide, `${intro}## Figures\n\n${text}\n`);
    writeFileSync(picture, pictureOf(limiters.arrivalsOf, limiters.beside));
  }
} finally {
  await remove();
}
