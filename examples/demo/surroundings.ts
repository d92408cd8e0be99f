import type { Input, Output } from "../console/terminal.ts";

/** What the demo gets from the process that it runs in. An abort of the signal is a Ctrl-C. */
export interface DemoSurroundings {
  readonly args: readonly string[];
  readonly input: Input;
  readonly output: Output;
  readonly errors: Output;
  readonly signal: AbortSignal;
}
