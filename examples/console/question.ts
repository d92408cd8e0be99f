import { createInterface } from "node:readline";
import type { Input, Output } from "./terminal.ts";

/** Asks for confirmation: true for `y` and `yes`, false for the end of the input. Rejects when the signal is aborted. */
export async function confirm(
  question: string,
  options: { input: Input; output: Output; signal: AbortSignal },
): Promise<boolean> {
  options.signal.throwIfAborted();
  // terminal: false leaves Ctrl-C to the process, which ends cleanly by the signal.
  const lines = createInterface({ input: options.input, terminal: false });
  const answer = await new Promise<string>((resolve) => {
    lines.once("line", resolve).once("close", () => resolve(""));
    options.signal.addEventListener("abort", () => lines.close(), { once: true });
    options.output.write(`${question} (y/N) `);
  });
  lines.close();
  options.signal.throwIfAborted();
  return /^y(es)?$/i.test(answer.trim());
}
