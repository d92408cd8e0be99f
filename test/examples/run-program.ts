import { spawn } from "node:child_process";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import type { ProgramSurroundings } from "../../examples/console/program.ts";

type Surroundings = Pick<ProgramSurroundings, "output" | "errors" | "signal">;

/** Runs a program in this process, and returns its exit code and what it has printed. */
export async function runHere(
  program: (surroundings: Surroundings) => Promise<number>,
  { output = new PassThrough(), signal = new AbortController().signal } = {},
) {
  const errors = new PassThrough();
  const texts = Promise.all([text(output), text(errors)]);
  const code = await program({ output, errors, signal });
  output.end();
  errors.end();
  const [out, err] = await texts;
  return { code, out, err };
}

/** Runs a bundled program as a process without a terminal; `onOutput` receives its output so far. */
export async function runProcess(
  args: readonly string[],
  onOutput: (child: ReturnType<typeof spawn>, out: string) => void = () => undefined,
  env: NodeJS.ProcessEnv = process.env,
) {
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let [out, err] = ["", ""];
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (err += chunk));
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    out += chunk;
    onOutput(child, out);
  });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, out, err };
}
