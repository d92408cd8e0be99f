import { execFile } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import manifest from "../../package.json" with { type: "json" };
import { tool } from "./programs.ts";

const run = promisify(execFile);
const repository = fileURLToPath(new URL("../..", import.meta.url));

export interface Installed {
  /** The file that `npm publish` would upload. */
  readonly tarball: string;
  /** A user's project with only this package installed, and programs that use it. */
  readonly consumer: string;
}

declare module "vitest" {
  interface ProvidedContext {
    installed: Installed;
  }
}

/** Installs the package once for all tests of a command. Returns the cleanup. */
export async function setup(project: Pick<TestProject, "provide">): Promise<() => Promise<void>> {
  const { remove, ...installed } = await installPackage();
  project.provide("installed", installed);
  return remove;
}

/** Builds, packs and installs the package; where `PACKED_PACKAGE` names a file, that one. */
export async function installPackage(): Promise<Installed & { remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "audience-sdk-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const tarball = process.env["PACKED_PACKAGE"] ?? (await pack(join(folder, "package")));
    return { tarball, consumer: await install(tarball, join(folder, "consumer")), remove };
  } catch (error) {
    await remove();
    throw error;
  }
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
  await cp(fileURLToPath(new URL("consumer", import.meta.url)), to, { recursive: true });
  // The user's own packages: one folder up, so that they do not count as installed with this package.
  const above = join(to, "..", "node_modules");
  await mkdir(above);
  for (const name of ["msw", "ioredis"]) await symlink(tool(name), join(above, name));
  return to;
}

/** The output of `npm pack --json`: an array, or, from npm 12 on, an object by package name. */
function tarballName(stdout: string): string {
  const report: Record<string, { filename: string }> = JSON.parse(stdout);
  const [packed] = Object.values(report);
  if (packed === undefined) throw new Error("npm pack made no file.");
  return packed.filename;
}

/** Size in bytes by path, of all files below a folder. */
export function fileSizes(folder: string): Map<string, number> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const found = names.map((name) => [name.replaceAll("\\", "/"), statSync(join(folder, name))] as const);
  return new Map(found.flatMap(([name, stat]) => (stat.isFile() ? [[name, stat.size] as const] : [])));
}

/** Text by path, of the package's files with one of these endings. */
export function installedFiles(consumer: string, ...endings: string[]): Map<string, string> {
  const folder = join(consumer, "node_modules", "audience-sdk");
  const paths = [...fileSizes(folder).keys()].filter((path) =>
    endings.some((ending) => path.endsWith(ending)),
  );
  return new Map(paths.map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

/** The source files whose code a built file holds: the build writes the path of each above it, our own and a library's. */
export function sourcesIn(text: string): string[] {
  const found = text.matchAll(/^\/\/ ((?:src|node_modules)\/.+)$/gm);
  return [...new Set([...found].flatMap(([, path]) => path ?? []))];
}

/** The names of the packages that these source files belong to. */
export function packagesOf(sources: readonly string[]): string[] {
  const names = sources.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  return [...new Set(names)].sort();
}
