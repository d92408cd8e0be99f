import { counted } from "../console/counted.ts";
import { columnsOf, say, type Output } from "../console/terminal.ts";
import { printable } from "../console/text-width.ts";

const backToLineStart = "\r\u001b[K";
const everyMs = { terminal: 100, elsewhere: 5_000 };
// The clock is read once for this many rows.
const rowsBetweenLooks = 256;

/** The progress of reading: one line on a terminal, elsewhere a line at the beginning and every few seconds. */
export class ReadingLine {
  readonly #output: Output;
  #title = "";
  #printedAtMs = 0;

  constructor(output: Output) {
    this.#output = output;
  }

  begin(title: string): void {
    this.#title = printable(title);
    this.#write("");
  }

  show(rows: number): void {
    if (rows % rowsBetweenLooks !== 0) return;
    const waitMs = this.#output.isTTY ? everyMs.terminal : everyMs.elsewhere;
    if (performance.now() - this.#printedAtMs >= waitMs) this.#write(`  ${counted(rows, "row")}`);
  }

  /** Ends the line. */
  end(): void {
    if (this.#output.isTTY) this.#output.write(backToLineStart);
  }

  #write(rest: string): void {
    this.#printedAtMs = performance.now();
    const line = `${this.#title}${rest}`;
    if (this.#output.isTTY) this.#output.write(backToLineStart + line.slice(0, columnsOf(this.#output) - 1));
    else say(this.#output, line);
  }
}
