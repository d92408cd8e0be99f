import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import manifest from "../../package.json" with { type: "json" };
import { copyPrograms } from "./copy-programs.ts";
import { tool } from "./run-program.ts";

const run = promisify(execFile);
const repository = fileURLToPath(new URL("../..", import.meta.url));

declare module "vitest" {
  interface ProvidedContext {
    /** The file that `npm publish` would upload. */
    tarball: string;
    /** A user's project with only this package installed, and programs that use it. */
    consumer: string;
  }
}

/** Builds, packs and installs the package once, for all tests of this folder; returns the cleanup. */
export async function setup(project: Pick<TestProject, "provide">): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "audience-sdk-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const tarball = await pack(join(folder, "package"));
    project.provide("tarball", tarball);
    project.provide("consumer", await install(tarball, join(folder, "consumer")));
  } catch (error) {
    await remove();
    throw error;
  }
  return remove;
}

async function pack(to: string): Promise<string> {
  const documents = manifest.files.filter((name) => name !== "dist");
  for (const name of ["package.json", "README.md", "LICENSE", ...documents]) {
    await cp(join(repository, name), join(to, name), { recursive: true });
  }
  await run(process.execPath, [tool("tsup/dist/cli-default.js"), "--silent", "--out-dir", join(to, "dist")], {
    cwd: repository,
  });
  // The build exists already: the scripts of package.json would repeat it.
  const { stdout } = await run("npm", ["pack", "--json", "--ignore-scripts"], { cwd: to });
  return join(to, tarballName(stdout));
}

async function install(tarball: string, to: string): Promise<string> {
  await mkdir(to);
  await writeFile(join(to, "package.json"), JSON.stringify({ name: "consumer", private: true }));
  // The cache holds the packages of `npm ci`; only the others come from the registry.
  const flags = ["--prefer-offline", "--no-audit", "--no-fund", "--omit=dev", "--omit=peer"];
  await run("npm", ["install", ...flags, tarball], { cwd: to });
  await copyPrograms(to);
  return to;
}

/** The output of `npm pack --json`: an array, or, from npm 12 on, an object by package name. */
function tarballName(stdout: string): string {
  const report: Record<string, { filename: string }> = JSON.parse(stdout);
  const [packed] = Object.values(report);
  if (packed === undefined) throw new Error("npm pack made no file.");
  return packed.filename;
}
