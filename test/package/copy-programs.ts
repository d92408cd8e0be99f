import { cp, mkdir, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tool } from "./run-program.ts";

interface Program {
  readonly expected: unknown;
}

/** The expected output of each of the consumer's programs, by name. */
export const { programs }: { programs: Readonly<Record<string, Program>> } =
  // A CommonJS file for all runtimes, without types.
  createRequire(import.meta.url)("./consumer/programs.cjs");

/** The two ways to load the package. */
export const loaders = ["import.mjs", "require.cjs"];

/** Copies the programs of a user's project beside the installed package. */
export async function copyPrograms(consumer: string): Promise<void> {
  await cp(fileURLToPath(new URL("consumer", import.meta.url)), consumer, { recursive: true });
  // The user's own packages: one folder up, so that they do not count as installed with this package.
  const above = join(consumer, "..", "node_modules");
  await mkdir(above);
  for (const name of ["msw", "ioredis"]) await symlink(tool(name), join(above, name));
}
