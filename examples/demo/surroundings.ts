import type { Input, Output } from "../console/terminal.ts";

/** The inputs of the demo from its process. Ctrl-C aborts the signal. */
export interface DemoSurroundings {
  readonly args: readonly string[];
  readonly input: Input;
  readonly output: Output;
  readonly errors: Output;
  readonly signal: AbortSignal;
}
