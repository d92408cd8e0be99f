import { mkdir, open, type FileHandle, rename } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { noteHeadings, reportNote } from "../exports/report-note.ts";
import type { SettledRow } from "./settled-rows.ts";

interface ReportFile {
  readonly path: string;
  readonly partPath: string;
  readonly handle: FileHandle;
}

/**
 * The failed rows of each file, under the name of the file (Mailchimp's states the consent), with its columns and two
 * more: the reason and a note.
 *
 * A file gets its name after it is complete, because the report may replace the file that is being imported.
 */
export class Report {
  readonly #folder: string;
  readonly #files = new Map<string, ReportFile>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async add({ row, consent, issues, isOfFileWithConsents }: SettledRow, reason: string): Promise<void> {
    const { headings, cells } = row.source;
    const own = headings.flatMap((heading, index) => (isReports(heading) ? [] : [index]));
    const file =
      this.#files.get(row.file) ??
      (await this.#begin(
        row.file,
        own.map((index) => headings[index] ?? ""),
      ));
    // An incomplete line is padded, so that the added cells are in their own columns. Surplus cells stay behind them:
    // until the line is corrected it is refused again.
    const line = own.map((index) => cells[index] ?? "");
    const surplus = cells.slice(headings.length);
    const note = reportNote(consent, issues, isOfFileWithConsents);
    await file.handle.write(csvLine([...line, reason, note, ...surplus]));
  }

  /** Closes the files, and returns their paths. */
  async end(): Promise<string[]> {
    const files = [...this.#files.values()];
    for (const { handle, partPath, path } of files) {
      await handle.close();
      await rename(partPath, path);
    }
    return files.map(({ path }) => path);
  }

  async #begin(source: string, headings: readonly string[]): Promise<ReportFile> {
    await mkdir(this.#folder, { recursive: true });
    const path = join(this.#folder, this.#unusedName(basename(source)));
    const partPath = `${path}.part`;
    const file = { path, partPath, handle: await open(partPath, "w") };
    this.#files.set(source, file);
    // The byte-order mark marks UTF-8, whatever encoding the other files have.
    await file.handle.write(`\ufeff${csvLine([...headings, noteHeadings.reason, noteHeadings.note])}`);
    return file;
  }

  #unusedName(name: string): string {
    const used = new Set(Array.from(this.#files.values(), ({ path }) => basename(path)));
    const ending = extname(name);
    let candidate = name;
    for (let count = 2; used.has(candidate); count++)
      candidate = `${name.slice(0, name.length - ending.length)}-${count}${ending}`;
    return candidate;
  }
}

function isReports(heading: string): boolean {
  return heading === noteHeadings.reason || heading === noteHeadings.note;
}

function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

function csvCell(text: string): string {
  return /[",;\t|\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
