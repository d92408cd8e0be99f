import { access, mkdir, readFile, realpath, rm } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import { replaceFile, Replacement } from "../../src/files/replacement.ts";
import { csvLine } from "../exports/csv-cell.ts";
import { CsvFileError, openCsv } from "../exports/csv-file.ts";
import type { People } from "../exports/people.ts";
import { isOfReport, noteHeadings, reportNote } from "../exports/report-note.ts";
import { type ImporterArguments, UsageError } from "./arguments.ts";
import { mapPathOf } from "./maps.ts";
import { refusedPathOf, writeRefusals } from "./refused-people.ts";
import type { SettledRow } from "./settled-rows.ts";

/**
 * The failed rows of each file, under the name of the file (Mailchimp's states the consent), with its columns and two
 * more: the reason and a note.
 *
 * A file gets its name after it is complete, because the report may replace the report that is being imported.
 */
export class Report {
  readonly #folder: string;
  readonly #options: ImporterArguments;
  /** The path of the report of each file. */
  readonly #paths: ReadonlyMap<string, string>;
  /** The reports of earlier imports at these paths, and whether they are being imported. */
  readonly #earlier = new Map<string, { isInput: boolean }>();
  readonly #files = new Map<string, Replacement>();

  private constructor(folder: string, options: ImporterArguments) {
    const { files } = options;
    this.#folder = folder;
    this.#options = options;
    const used = new Set<string>();
    this.#paths = new Map(files.map((file) => [file, join(folder, unusedName(basename(file), used))]));
  }

  /** Throws a `UsageError` if it would replace another file than a report. */
  static async open(folder: string, options: ImporterArguments): Promise<Report> {
    const report = new Report(folder, options);
    for (const path of report.#paths.values()) await report.#check(path, options);
    return report;
  }

  async #check(path: string, { files, encoding, isDryRun }: ImporterArguments): Promise<void> {
    if (
      !(await access(path).then(
        () => true,
        () => false,
      ))
    )
      return;
    if (!(await isReport(path, encoding)))
      throw new UsageError(`--report would replace ${path}, which is no report. Choose another folder.`);
    const real = await realpath(path);
    const inputs = await Promise.all(files.map((file) => realpath(file).catch(() => file)));
    const isInput = inputs.includes(real);
    if (isInput && isDryRun)
      throw new UsageError(
        `--report would replace ${path}, and a dry run does not send its rows. Choose another folder.`,
      );
    this.#earlier.set(path, { isInput });
  }

  async add({ row, consent, issues, isOfFileWithConsents }: SettledRow, reason: string): Promise<void> {
    const { headings, cells } = row.source;
    const own = headings.flatMap((heading, index) => (isOfReport(heading) ? [] : [index]));
    const file =
      this.#files.get(row.file) ??
      (await this.#begin(
        row.file,
        own.map((index) => headings[index] ?? ""),
      ));
    // An incomplete line is padded, so that the added cells are in their own columns, and its note says so. Surplus cells
    // stay behind them. Until the line is corrected it is refused again.
    const line = own.map((index) => cells[index] ?? "");
    const surplus = cells.slice(headings.length);
    const note = reportNote(consent, issues, {
      hasFileConsents: isOfFileWithConsents,
      cutAfter: row.source.cutAfter,
    });
    file.write(csvLine([...line, reason, note, ...surplus]));
  }

  /**
   * Closes the files, and removes the report of an earlier import if its file has no failed row now. If the import did not
   * end, the report that is being imported stays: it still has rows to send.
   */
  async end(isComplete: boolean, people: People): Promise<{ written: string[]; removed: string[] }> {
    const written: string[] = [];
    const removed: string[] = [];
    for (const [source, path] of this.#paths) {
      const file = this.#files.get(source);
      const earlier = this.#earlier.get(path);
      if (file && earlier?.isInput && !isComplete) file.discard();
      else if (file) {
        file.commit();
        await this.#copyMap(source, path);
        await writeRefusals(path, people);
        written.push(path);
      } else if (earlier && isComplete) {
        await rm(path);
        await rm(refusedPathOf(path), { force: true });
        removed.push(path);
      }
    }
    return { written, removed };
  }

  /** The report is imported by the map of its file, without a question. */
  async #copyMap(source: string, path: string): Promise<void> {
    const [from, to] = [mapPathOf(source, this.#options), mapPathOf(path, this.#options)];
    if (resolve(from) === resolve(to)) return;
    const map = await readFile(from, "utf8").catch(() => undefined);
    if (map !== undefined) replaceFile(to, [map]);
  }

  async #begin(source: string, headings: readonly string[]): Promise<Replacement> {
    await mkdir(this.#folder, { recursive: true });
    // Safe: every row is of one of the files.
    const file = new Replacement(this.#paths.get(source)!);
    this.#files.set(source, file);
    // The byte-order mark marks UTF-8, whatever encoding the other files have.
    file.write(`\ufeff${csvLine([...headings, noteHeadings.reason, noteHeadings.note])}`);
    return file;
  }
}

function unusedName(name: string, used: Set<string>): string {
  const ending = extname(name);
  let candidate = name;
  for (let count = 2; used.has(candidate); count++)
    candidate = `${name.slice(0, name.length - ending.length)}-${count}${ending}`;
  used.add(candidate);
  return candidate;
}

async function isReport(path: string, encoding: string | undefined): Promise<boolean> {
  try {
    return (await openCsv(path, { encoding })).headings.includes(noteHeadings.reason);
  } catch (error) {
    if (error instanceof CsvFileError) return false;
    throw error;
  }
}
