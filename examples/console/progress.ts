import { columnsOf, say, type Output } from "./terminal.ts";

const barWidth = 30;
const backToLineStart = "\r\u001b[K";

/** A progress bar on a terminal; elsewhere a line for each quarter. */
export class Progress {
  readonly #output: Output;
  readonly #total: number;
  readonly #unit: string;
  #done = 0;

  constructor(options: { output: Output; total: number; unit: string }) {
    this.#output = options.output;
    this.#total = options.total;
    this.#unit = options.unit;
  }

  /** Counts one more item. `note` is printed after the bar. */
  advance(note = ""): void {
    this.advanceTo(this.#done + 1, note);
  }

  /** Counts up to an item. */
  advanceTo(done: number, note = ""): void {
    const before = this.#done;
    this.#done = done;
    if (this.#output.isTTY) this.#draw(note);
    else if (this.#quarter(done) > this.#quarter(before)) say(this.#output, `   ${this.#count()}`);
  }

  /** Ends the line. */
  end(): void {
    if (this.#output.isTTY) this.#output.write("\n");
  }

  #draw(note: string): void {
    const filled = Math.round((barWidth * this.#done) / this.#total);
    const bar = `${"█".repeat(filled)}${"░".repeat(barWidth - filled)}`;
    // One cell stays free: some terminals start a new line when the last cell is filled.
    const line = `   ${bar} ${this.#count()}${note === "" ? "" : `, ${note}`}`.slice(
      0,
      columnsOf(this.#output) - 1,
    );
    this.#output.write(backToLineStart + line);
  }

  #count(): string {
    return `${String(Math.floor((100 * this.#done) / this.#total)).padStart(3)} %  ${this.#done} of ${this.#total} ${this.#unit}`;
  }

  #quarter(done: number): number {
    return Math.floor((4 * done) / this.#total);
  }
}
