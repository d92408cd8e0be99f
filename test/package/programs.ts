import { execFile } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createRequire } from "node:module";

export interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Surroundings {
  readonly folder: string;
  /** In addition to the environment of the tests. */
  readonly env?: Record<string, string>;
}

/** Runs a command in a folder to its end; a failure is returned, not thrown. */
export function runProgram(
  command: string,
  args: readonly string[],
  { folder, env: more }: Surroundings,
): Promise<Outcome> {
  // The variables of the test runner would change the program under test.
  const { NODE_ENV: _, VITEST: _1, NODE_OPTIONS: _2, ...env } = process.env;
  return new Promise((resolve) => {
    execFile(command, args, { cwd: folder, env: { ...env, ...more } }, (error, stdout, stderr) => {
      if (error === null) resolve({ exitCode: 0, stdout, stderr });
      // A program that could not start has no output.
      else if (typeof error.code === "number") resolve({ exitCode: error.code, stdout, stderr });
      else resolve({ exitCode: 1, stdout, stderr: stderr || error.message });
    });
  });
}

/** Runs Node with these arguments in a folder. */
export function runNode(folder: string, ...args: string[]): Promise<Outcome> {
  return runProgram(process.execPath, args, { folder });
}

/** A tool of this repository, by its path below `node_modules`. */
export function tool(path: string): string {
  return new URL(`../../node_modules/${path}`, import.meta.url).pathname;
}

/** The expected result of each of the consumer's programs, by name. */
export const { programs }: { programs: Readonly<Record<string, { readonly expected: unknown }>> } =
  // A CommonJS file for all runtimes, without types.
  createRequire(import.meta.url)("./consumer/programs.cjs");

/** The two ways to load the package: each runs the programs. */
export const loaders = ["import.mjs", "require.cjs"];

/** Reports what could not be tested, also to the file in which `.ci/run` collects it. */
export function sayNotRun(what: string): void {
  process.stderr.write(`NOT RUN: ${what}\n`);
  const report = process.env["NOT_RUN_REPORT"];
  if (report !== undefined) appendFileSync(report, `${what}\n`);
}
