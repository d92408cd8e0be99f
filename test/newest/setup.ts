import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Plugin } from "vitest/config";
import { runProgram } from "../package/programs.ts";

/** What users bring along, and what is built in (of bottleneck there is nothing newer). */
const libraries: Readonly<Record<string, string>> = {
  zod: "4",
  msw: "3",
  ky: "2",
  "p-retry": "9",
};

/** The folder of the installed libraries: vitest loads this file twice, for its configuration and as its set-up. */
const folderVariable = "NEWEST_LIBRARIES";

/** Installs the newest of each library into a folder of its own, and prints the versions; once, for all projects. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[folderVariable] !== undefined) return undefined;
  const folder = await realpath(await mkdtemp(join(tmpdir(), "audience-sdk-newest-")));
  process.env[folderVariable] = folder;
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }));
  const packages = Object.entries(libraries).map(([name, version]) => `${name}@${version}`);
  const flags = ["install", "--ignore-scripts", "--no-audit", "--no-fund"];
  const { exitCode, stderr } = await runProgram("npm", [...flags, ...packages], { folder });
  if (exitCode !== 0) throw new Error(stderr);
  for (const name of Object.keys(libraries)) {
    const text = await readFile(join(folder, "node_modules", name, "package.json"), "utf8");
    const { version }: { version: string } = JSON.parse(text);
    process.stdout.write(`${name} ${version}\n`);
  }
  return () => rm(folder, { recursive: true });
}

/** Resolves these libraries in that folder, for sources and tests. */
export const newestLibraries: Plugin = {
  name: "newest-libraries",
  enforce: "pre",
  async resolveId(id) {
    const [name = ""] = id.split("/");
    if (!Object.hasOwn(libraries, name)) return null;
    const folder = process.env[folderVariable] ?? "";
    const found = await this.resolve(id, join(folder, "package.json"), { skipSelf: true });
    if (found?.id.startsWith(join(folder, "node_modules", name)) !== true)
      throw new Error(`${id} is ${found?.id}, not in ${folder}.`);
    return found;
  },
};
