import { styleText } from "node:util";

/** The output of the demo: `process.stdout`, a terminal or not. */
export type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number; rows?: number };

/** The input of the demo: `process.stdin`. */
export type Input = NodeJS.ReadableStream & { isTTY?: boolean };

// The width of a table without a terminal.
const widthWithoutTerminal = 100;

export function columnsOf(output: Output): number {
  return output.columns !== undefined && output.columns > 0 ? output.columns : widthWithoutTerminal;
}

/** Writes lines. */
export function say(output: Output, ...lines: readonly string[]): void {
  output.write(lines.map((line) => `${line}\n`).join(""));
}

/** The text in a style, if the output is a terminal with colours. The variables `NO_COLOR` and `FORCE_COLOR` count. */
export function styled(output: Output, style: Parameters<typeof styleText>[0], text: string): string {
  return styleText(style, text, { stream: output });
}
