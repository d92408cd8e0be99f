import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { setup as setUpPackage } from "../package/installation.ts";
import { runProgram, sayNotRun } from "../package/programs.ts";

/** A platform: its npm package, and the arguments with which its program prints its version. */
const wanted = {
  bun: { bin: "bun", version: ["--version"] },
  deno: { bin: "deno", version: ["--version"] },
  workerd: { bin: "workerd", version: ["--version"] },
  "typescript@5.8": { bin: "tsc", version: ["--version"] },
  "typescript@6": { bin: "tsc", version: ["--version"] },
  "typescript@7": { bin: "tsc", version: ["--version"] },
};

export type Platform = keyof typeof wanted;

declare module "vitest" {
  interface ProvidedContext {
    /** The program of each platform that could be installed. */
    platforms: Partial<Record<Platform, string>>;
  }
}

/** Installs the package as its users do, and the platforms beside it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "audience-sdk-platforms-"));
  const remove = await setUpPackage(project);
  const platforms: Partial<Record<Platform, string>> = {};
  for (const platform of Object.keys(wanted) as Platform[]) {
    const program = await installPlatform(platform, join(folder, platform.replace("@", "-")));
    if (program !== undefined) platforms[platform] = program;
  }
  project.provide("platforms", platforms);
  return async () => {
    await remove();
    await rm(folder, { recursive: true, force: true });
  };
}

/** The path of its program. If there is none for this machine, it is undefined, and that is reported. */
async function installPlatform(platform: Platform, folder: string): Promise<string | undefined> {
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }));
  const flags = ["install", "--prefer-offline", "--no-audit", "--no-fund", platform];
  const outcome = await runProgram("npm", flags, { folder });
  const { bin, version } = wanted[platform];
  const program = join(folder, "node_modules", ".bin", bin);
  const asked = outcome.exitCode === 0 ? await runProgram(program, version, { folder }) : outcome;
  if (asked.exitCode === 0) {
    process.stdout.write(`${platform}: ${asked.stdout.split("\n")[0]}\n`);
    return program;
  }
  sayNotRun(`${platform}: ${asked.stderr.trim().split("\n").at(-1)}`);
  return undefined;
}
