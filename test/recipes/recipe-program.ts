import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";
import { repository } from "../project/source-files.ts";

export interface RecipeProgram {
  readonly child: ChildProcess;
  /** All that it printed so far. */
  printed(): string;
  /** Its exit code, or the signal that ended it, when it has ended. */
  readonly ended: Promise<unknown>;
}

/** Starts a recipe as a program of its own. It is ended with the test. */
export function startRecipe(recipe: string, env: Record<string, string>): RecipeProgram {
  return startProgram(["--import", "tsx", `examples/recipes/${recipe}.ts`], env);
}

/** Starts Node with these arguments. It is ended with the test. */
export function startProgram(
  args: readonly string[],
  env: Record<string, string>,
  folder = repository,
): RecipeProgram {
  // The variables of the test runner would change the program under test.
  const { NODE_ENV: _, VITEST: _1, NODE_OPTIONS: _2, ...own } = process.env;
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...own, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (printed += String(text)));
  const ended = once(child, "exit").then(([exitCode, signal]: unknown[]) => exitCode ?? signal);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { child, printed: () => printed, ended };
}
