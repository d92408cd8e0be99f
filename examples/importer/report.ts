import { mkdir, readFile, realpath, rm } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import { replaceFile, Replacement } from "../../src/files/replacement.ts";
import { csvLine } from "../exports/csv-cell.ts";
import { CsvFileError, openCsv } from "../exports/csv-file.ts";
import { reasonHeading } from "../exports/csv-row.ts";
import type { People } from "../exports/people.ts";
import { type ImporterArguments, UsageError } from "./arguments.ts";
import { mapPathOf } from "./maps.ts";
import { refusalsPathOf, writeRefusals } from "./report-refusals.ts";
import type { RowToSend } from "./rows-to-send.ts";
import type { FileSurvey } from "./survey.ts";

/**
 * The failed rows of each file, under the name of the file (Mailchimp's states the consent), with its columns and one
 * more: the reason. A file gets its name after it is complete.
 */
export class Report {
  readonly #folder: string;
  readonly #options: ImporterArguments;
  /** The path of the report of each file. */
  readonly #paths = new Map<string, string>();
  readonly #earlier = new Set<string>();
  readonly #files = new Map<string, { lines: Replacement; survey: FileSurvey }>();

  private constructor(folder: string, options: ImporterArguments) {
    this.#folder = folder;
    this.#options = options;
  }

  /** Throws a `UsageError` if it would replace another file than a report, or the one that is being imported. */
  static async open(folder: string, options: ImporterArguments): Promise<Report> {
    const report = new Report(folder, options);
    const inputs = await Promise.all(options.files.map((file) => realpath(file).catch(() => file)));
    const used = new Set<string>();
    for (const file of options.files) {
      const path = join(folder, unusedName(basename(file), used));
      report.#paths.set(file, path);
      const replaced = await realpath(path).catch(() => undefined);
      if (replaced === undefined) continue;
      const refusal = inputs.includes(replaced)
        ? "which is being imported"
        : (await isReport(path, options))
          ? undefined
          : "which is no report";
      if (refusal !== undefined)
        throw new UsageError(`--report would replace ${path}, ${refusal}. Choose another folder.`);
      report.#earlier.add(path);
    }
    return report;
  }

  async add({ row, file: survey }: RowToSend, reason: string): Promise<void> {
    const { headings, cells } = row.source;
    const own = headings.flatMap((heading, index) => (heading === reasonHeading ? [] : [index]));
    let file = this.#files.get(row.file);
    if (file === undefined) {
      await mkdir(this.#folder, { recursive: true });
      // Safe: every row is of one of the files.
      file = { lines: new Replacement(this.#paths.get(row.file)!), survey };
      this.#files.set(row.file, file);
      // The byte-order mark marks UTF-8, whatever encoding the other files have.
      file.lines.write(`\ufeff${csvLine([...own.map((index) => headings[index]!), reasonHeading])}`);
    }
    // An incomplete line is padded, so that the reason is in its own column. Surplus cells stay behind it.
    const line = own.map((index) => cells[index] ?? "");
    file.lines.write(csvLine([...line, reason, ...cells.slice(headings.length)]));
  }

  /** Closes the files, and removes the report of an earlier import if its file has no failed row now. */
  async end(isComplete: boolean, people: People): Promise<{ written: string[]; removed: string[] }> {
    const written: string[] = [];
    const removed: string[] = [];
    for (const [source, path] of this.#paths) {
      const file = this.#files.get(source);
      if (file) {
        file.lines.commit();
        await this.#copyMap(source, path);
        // With --consent its rows need the same again.
        const hasConsents = this.#options.consent === undefined && file.survey.hasConsents;
        writeRefusals(path, { hasConsents, people: people.refusals() });
        written.push(path);
      } else if (isComplete && this.#earlier.has(path)) {
        await rm(path);
        await rm(refusalsPathOf(path), { force: true });
        removed.push(path);
      }
    }
    return { written, removed };
  }

  /** The report is imported by the map of its file, without a question. */
  async #copyMap(source: string, path: string): Promise<void> {
    const [from, to] = [mapPathOf(source, this.#options), mapPathOf(path, this.#options)];
    if (resolve(from) !== resolve(to)) replaceFile(to, [await readFile(from, "utf8")]);
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

async function isReport(path: string, { encoding }: ImporterArguments): Promise<boolean> {
  try {
    return (await openCsv(path, { encoding })).headings.includes(reasonHeading);
  } catch (error) {
    if (error instanceof CsvFileError) return false;
    throw error;
  }
}
