import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { runProgram } from "../package/run-program.ts";
import { setup as setUpPackage } from "../package/setup.ts";

/** The zod versions under test: the oldest of the range, one between, and the newest. */
const versions = ["4.0.0", "~4.1.0", "^4.0.0"];

/** A user's project with the packed package and only one copy of zod, the user's own. */
export interface Mixed {
  readonly version: string;
  readonly folder: string;
}

declare module "vitest" {
  interface ProvidedContext {
    mixed: Mixed[];
  }
}

/** Packs the package, and installs it with each zod. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let tarball = "";
  const remove = await setUpPackage({
    provide(name, value) {
      if (name === "tarball" && typeof value === "string") tarball = value;
    },
  });
  try {
    const mixed = versions.map((version) => ({
      version,
      folder: join(tarball, "..", "..", `zod-${version.replaceAll(/\W/g, "-")}`),
    }));
    for (const { version, folder } of mixed) await install(folder, tarball, `zod@${version}`);
    project.provide("mixed", mixed);
  } catch (error) {
    await remove();
    throw error;
  }
  return remove;
}

async function install(folder: string, ...packages: string[]): Promise<void> {
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }));
  const flags = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--omit=peer"];
  const { exitCode, stderr } = await runProgram("npm", [...flags, ...packages], { folder });
  if (exitCode !== 0) throw new Error(stderr);
  await cp(
    fileURLToPath(new URL("../package/consumer/mixing.mjs", import.meta.url)),
    join(folder, "mixing.mjs"),
  );
}
