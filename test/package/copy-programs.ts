import { cp, mkdir, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tool } from "./run-program.ts";

interface Program {
  readonly expected: unknown;
}

/** What each of the consumer's programs prints, by its name. */
export const { programs }: { programs: Readonly<Record<string, Program>> } =
  // Written for whoever loads it, so it has no types of its own.
  createRequire(import.meta.url)("./consumer/programs.cjs");

/** The two ways to load the package. */
export const loaders = ["import.mjs", "require.cjs"];

/** Puts the programs of a user's project beside the installed package. */
export async function copyPrograms(consumer: string): Promise<void> {
  await cp(fileURLToPath(new URL("consumer", import.meta.url)), consumer, { recursive: true });
  // What a user has of its own: one folder up, where it is found and does not count as installed with the package.
  const above = join(consumer, "..", "node_modules");
  await mkdir(above);
  for (const name of ["msw", "ioredis"]) await symlink(tool(name), join(above, name));
}
