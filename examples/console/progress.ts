import { columnsOf, say, type Output } from "./terminal.ts";

const barWidth = 30;
const backToLineStart = "\r\u001b[K";

/** How far something is: a bar that moves where there is a terminal, a line for each quarter where there is none. */
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

  /** One more is done. `note` stands behind the bar. */
  advance(note = ""): void {
    this.#done += 1;
    if (this.#output.isTTY) this.#draw(note);
    else if (this.#quarter(this.#done) > this.#quarter(this.#done - 1))
      say(this.#output, `   ${this.#count()}`);
  }

  /** Leaves the line to what is written next. */
  end(): void {
    if (this.#output.isTTY) this.#output.write("\n");
  }

  #draw(note: string): void {
    const filled = Math.round((barWidth * this.#done) / this.#total);
    const bar = `${"█".repeat(filled)}${"░".repeat(barWidth - filled)}`;
    // One cell stays free, as some terminals begin a new line when the last one is filled.
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
