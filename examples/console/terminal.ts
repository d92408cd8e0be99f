/** Where the demo writes: `process.stdout`, which is a terminal or is not. */
export type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number; rows?: number };

/** Where the demo reads a response: `process.stdin`. */
export type Input = NodeJS.ReadableStream & { isTTY?: boolean };

// What a table gets where there is no terminal to ask.
const widthWithoutTerminal = 100;

export function columnsOf(output: Output): number {
  return output.columns !== undefined && output.columns > 0 ? output.columns : widthWithoutTerminal;
}

/** Writes lines. */
export function say(output: Output, ...lines: readonly string[]): void {
  output.write(lines.map((line) => `${line}\n`).join(""));
}
