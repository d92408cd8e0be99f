import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { installPackage, type Installed } from "../package/installation.ts";
import { runProgram } from "../package/programs.ts";

/** The versions under test: the oldest of the range, one between, and the newest. */
const zodVersions = ["4.0.0", "~4.1.0", "^4.0.0"];
const mswVersions = ["2.7.0", "^2.7.0", "^3.0.0"];

/** A user's project with the packed package and one other package: zod, or msw. */
export interface Mixed {
  readonly version: string;
  readonly folder: string;
}

declare module "vitest" {
  interface ProvidedContext {
    withZod: Mixed[];
    withMsw: Mixed[];
    /** Installed by pnpm, and the oldest zod after it: each has one of its own. */
    withPnpm: Mixed;
  }
}

/** Packs the package, and installs it with each zod and each msw. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { remove, ...installed } = await installPackage();
  try {
    project.provide("withZod", await installEach("zod", zodVersions, installed));
    project.provide("withPnpm", await installByPnpm(installed));
    project.provide("withMsw", await installEach("msw", mswVersions, installed));
  } catch (error) {
    await remove();
    throw error;
  }
  return remove;
}

async function installByPnpm({ tarball, consumer }: Installed): Promise<Mixed> {
  const [version = ""] = zodVersions;
  const folder = join(consumer, "..", "pnpm");
  await createProject(folder);
  for (const added of [tarball, `zod@${version}`]) await pnpm(folder, "add", added);
  return { version, folder };
}

/** Runs pnpm, which comes as an npm package. */
export async function pnpm(folder: string, ...args: string[]): Promise<void> {
  const run = ["exec", "--yes", "--package=pnpm@12", "--", "pnpm", ...args, "--prefer-offline"];
  const { exitCode, stdout, stderr } = await runProgram("npm", run, { folder });
  if (exitCode !== 0) throw new Error(stdout + stderr);
}

async function installEach(
  name: string,
  versions: string[],
  { tarball, consumer }: Installed,
): Promise<Mixed[]> {
  const projects = versions.map((version) => ({
    version,
    folder: join(consumer, "..", `${name}-${version.replaceAll(/\W/g, "-")}`),
  }));
  for (const { version, folder } of projects) await install(folder, tarball, `${name}@${version}`);
  return projects;
}

async function install(folder: string, ...packages: string[]): Promise<void> {
  await createProject(folder);
  const flags = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--omit=peer"];
  const { exitCode, stderr } = await runProgram("npm", [...flags, ...packages], { folder });
  if (exitCode !== 0) throw new Error(stderr);
}

async function createProject(folder: string): Promise<void> {
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }));
  for (const program of ["mixing.mjs", "msw.mjs"])
    await cp(
      fileURLToPath(new URL(`../package/consumer/${program}`, import.meta.url)),
      join(folder, program),
    );
}
