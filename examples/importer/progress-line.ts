import type { BulkProgress } from "audience-sdk";
import { formatDuration } from "../console/duration.ts";
import { columnsOf, say, type Output } from "../console/terminal.ts";

const barWidth = 24;
const everyMs = 60_000;
const backToLineStart = "\r\u001b[K";

/**
 * The progress of the import. On a terminal one line, redrawn every second, because the next row may wait an hour for
 * its permit; elsewhere a line for the first rows and each tenth, and at least one a minute.
 */
export class ProgressLine {
  readonly #output: Output;
  readonly #timer: NodeJS.Timeout | undefined;
  #progress: BulkProgress | undefined;
  #updatedAtMs = 0;
  #tenth = 0;
  #printedAtMs: number | undefined;

  constructor(output: Output) {
    this.#output = output;
    this.#timer = output.isTTY ? setInterval(() => this.#draw(), 1_000).unref() : undefined;
  }

  show(progress: BulkProgress): void {
    this.#progress = progress;
    this.#updatedAtMs = performance.now();
    if (this.#output.isTTY) this.#draw();
    else this.#printTenth(progress);
  }

  /** Ends the line. */
  end(): void {
    clearInterval(this.#timer);
    if (this.#output.isTTY && this.#progress) this.#output.write("\n");
  }

  #draw(): void {
    if (!this.#progress) return;
    // One cell stays free, as some terminals begin a new line when the last one is filled.
    const line = progressLine(this.#progress, performance.now() - this.#updatedAtMs).slice(
      0,
      columnsOf(this.#output) - 1,
    );
    this.#output.write(backToLineStart + line);
  }

  #printTenth(progress: BulkProgress): void {
    const tenth = Math.floor((10 * progress.done) / (progress.total ?? Infinity));
    const isTime = this.#printedAtMs === undefined || performance.now() - this.#printedAtMs >= everyMs;
    if (tenth <= this.#tenth && !isTime) return;
    this.#tenth = tenth;
    this.#printedAtMs = performance.now();
    say(this.#output, progressLine(progress, 0));
  }
}

/** The line, some milliseconds after the last update. */
export function progressLine({ done, total = done, etaMs, ...counts }: BulkProgress, agoMs: number): string {
  const share = total === 0 ? 1 : done / total;
  const filled = Math.floor(barWidth * share);
  const notSent = counts.invalid + counts.failed + counts.unknown;
  return [
    `${"█".repeat(filled)}${"░".repeat(barWidth - filled)} ${String(Math.floor(100 * share)).padStart(3)} %`,
    `${done} of ${total}`,
    ...(counts.skipped === 0 ? [] : [`${counts.skipped} done before`]),
    ...(counts.superseded === 0 ? [] : [`${counts.superseded} superseded`]),
    ...(notSent === 0 ? [] : [`${notSent} not imported`]),
    `${counts.ratePerMinute}/min`,
    ...(etaMs === undefined || done === total ? [] : [`${formatDuration(Math.max(0, etaMs - agoMs))} left`]),
  ].join("  ");
}
