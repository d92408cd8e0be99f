import { execFile } from "node:child_process";

export interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Node with these arguments in a folder, to its end; a failure is told, not thrown. */
export function runNode(folder: string, ...args: string[]): Promise<Outcome> {
  // What the test runner has set for itself would change what the program under test does.
  const { NODE_ENV: _, VITEST: _1, NODE_OPTIONS: _2, ...env } = process.env;
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder, env }, (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
      resolve({ exitCode, stdout, stderr });
    });
  });
}

/** A tool of this repository, by its path below `node_modules`. */
export function tool(path: string): string {
  return new URL(`../../node_modules/${path}`, import.meta.url).pathname;
}
