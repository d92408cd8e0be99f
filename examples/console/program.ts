import { parseArgs, type ParseArgsConfig } from "node:util";
import type { Input, Output } from "./terminal.ts";

/** What a program gets from its process. Ctrl-C and SIGTERM abort the signal, and so does a reader that closes the output. */
export interface ProgramSurroundings {
  readonly args: readonly string[];
  readonly input: Input;
  readonly output: Output;
  readonly errors: Output;
  readonly signal: AbortSignal;
}

/** A problem of an option or a file, which only the user can mend. The message says how. */
export class InputError extends Error {
  override readonly name: string = "InputError";
}

/** An invalid command line. The message says what to write instead. */
export class UsageError extends InputError {
  override readonly name = "UsageError";
}

/** An error's message without the advice to start the package's command, which a clone has only once it is built. */
export const messageInClone = ({ message }: Error): string => message.replace(/ No service yet\?.*/s, "");

/** Parses a command line, or throws a `UsageError` that names the option. */
export function parseCommandLine<const Config extends ParseArgsConfig>(config: Config) {
  try {
    return parseArgs(config);
  } catch (error) {
    // Only the first sentence, which names the option; the rest is about programs that take other arguments.
    const [reason] = (error as Error).message.split(". ");
    throw new UsageError(`${reason!.replace(/\.$/, "")}.`, { cause: error });
  }
}

/** Runs a program to its exit code. The first Ctrl-C stops it cleanly; a second one, a second later, has the default action. */
export async function runProgram(
  program: (surroundings: ProgramSurroundings) => Promise<number>,
): Promise<void> {
  const stop = new AbortController();
  const interrupt = () => {
    stop.abort();
    // One Ctrl-C may arrive twice: the terminal signals the program, and so does npm.
    setTimeout(() => process.off("SIGINT", interrupt), 1_000).unref();
  };
  process.on("SIGINT", interrupt);
  // A supervisor asks in this way.
  process.once("SIGTERM", () => stop.abort());
  // The reader of the output may close the pipe: `npm run demo | head`.
  let isOutputGone = false;
  for (const output of [process.stdout, process.stderr])
    output.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      isOutputGone = true;
      stop.abort();
    });

  const code = await program({
    args: process.argv.slice(2),
    input: process.stdin,
    output: process.stdout,
    errors: process.stderr,
    signal: stop.signal,
  });
  // A shell's exit code for a closed pipe.
  process.exitCode = isOutputGone ? 141 : code;
}
