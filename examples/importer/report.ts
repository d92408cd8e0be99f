import { mkdir, readFile, realpath, rm } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import * as z from "zod";
import { replaceFile, Replacement } from "../../src/files/replacement.ts";
import { InputError } from "../console/program.ts";
import { csvLine } from "../exports/csv-cell.ts";
import { distinct, openCsv } from "../exports/csv-file.ts";
import { reasonHeading } from "../exports/csv-row.ts";
import type { People } from "../exports/people.ts";
import type { ImporterArguments } from "./arguments.ts";
import { mapPathOf } from "./maps.ts";
import type { RowToSend } from "./rows-to-send.ts";
import type { FileSurvey } from "./survey.ts";

/**
 * The failed rows of each file, under the name of the file (Mailchimp's states the consent), with its columns and one
 * more: the reason. A file gets its name after it is complete.
 */
export class Report {
  readonly #options: ImporterArguments;
  /** The path of the report of each file. */
  readonly #paths: ReadonlyMap<string, string>;
  readonly #files = new Map<string, { lines: Replacement; survey: FileSurvey }>();

  private constructor(options: ImporterArguments, paths: ReadonlyMap<string, string>) {
    this.#options = options;
    this.#paths = paths;
  }

  /** Throws an `InputError` if it would replace another file than a report, or the one that is being imported. */
  static async open(options: ImporterArguments): Promise<Report> {
    const { files, reportFolder = "" } = options;
    const inputs = await Promise.all(files.map((file) => realpath(file).catch(() => file)));
    const names = distinct(
      files.map((file) => basename(file)),
      (name, count) => `${name.slice(0, name.length - extname(name).length)}-${count}${extname(name)}`,
    );
    const paths = names.map((name) => join(reportFolder, name));
    for (const path of paths) {
      const replaced = await realpath(path).catch(() => undefined);
      if (replaced === undefined) continue;
      const isInput = inputs.includes(replaced);
      if (!isInput && (await isReport(path, options))) continue;
      const why = isInput ? "which is being imported" : "which is no report";
      throw new InputError(`--report would replace ${path}, ${why}. Choose another folder.`);
    }
    return new Report(options, new Map(files.map((file, index) => [file, paths[index]!])));
  }

  async add({ row, file: survey }: RowToSend, reason: string): Promise<void> {
    const { headings, cells } = row.source;
    const own = headings.flatMap((heading, index) => (heading === reasonHeading ? [] : [index]));
    let file = this.#files.get(row.file);
    if (file === undefined) {
      // Safe: every row is of one of the files.
      const path = this.#paths.get(row.file)!;
      await mkdir(dirname(path), { recursive: true });
      file = { lines: new Replacement(path), survey };
      this.#files.set(row.file, file);
      // The byte-order mark marks UTF-8, whatever encoding the other files have.
      file.lines.write(`\ufeff${csvLine([...own.map((index) => headings[index]!), reasonHeading])}`);
    }
    // An incomplete line is padded, so that the reason is in its own column. Surplus cells stay behind it.
    const line = own.map((index) => cells[index] ?? "");
    file.lines.write(csvLine([...line, reason, ...cells.slice(headings.length)]));
  }

  /** Closes the files, and removes the report of an earlier import if its file has no failed row now. */
  async end(isComplete: boolean, people: People): Promise<string[]> {
    const written: string[] = [];
    for (const [source, path] of this.#paths) {
      const file = this.#files.get(source);
      if (file) {
        file.lines.commit();
        await this.#copyMap(source, path);
        // With --consent its rows need the same again.
        const hasConsents = this.#options.consent === undefined && file.survey.hasConsents;
        const refusals: Refusals = { version: 1, hasConsents, people: people.refusals() };
        replaceFile(refusalsPathOf(path), [`${JSON.stringify(refusals)}\n`]);
        written.push(path);
      } else if (isComplete)
        await Promise.all([path, refusalsPathOf(path)].map((old) => rm(old, { force: true })));
    }
    return written;
  }

  /** The report is imported by the map of its file, without a question. */
  async #copyMap(source: string, path: string): Promise<void> {
    const [from, to] = [mapPathOf(source, this.#options), mapPathOf(path, this.#options)];
    if (resolve(from) !== resolve(to)) replaceFile(to, [await readFile(from, "utf8")]);
  }
}

async function isReport(path: string, { encoding }: ImporterArguments): Promise<boolean> {
  try {
    return (await openCsv(path, { encoding })).headings.includes(reasonHeading);
  } catch (error) {
    if (error instanceof InputError) return false;
    throw error;
  }
}

const refusalsPathOf = (report: string) => `${report}.refused.json`;

const level = z.int().min(0);

const refusalsSchema = z.strictObject({
  version: z.literal(1),
  /** Whether the file had consents: a row of its report then needs none either. */
  hasConsents: z.boolean(),
  /** Who has refused, by the hash of an address, a number or an id: a corrected row may be about one of them. */
  people: z.record(
    z.string(),
    z.strictObject({ email: level, phone: level, emailHold: level, phoneHold: level, isSuppressed: level }),
  ),
});

type Refusals = z.output<typeof refusalsSchema>;

/** The refusals that a report has beside it; undefined if the file is no report. */
export async function readRefusals(report: string): Promise<Refusals | undefined> {
  const path = refusalsPathOf(report);
  try {
    return refusalsSchema.parse(JSON.parse(await readFile(path, "utf8")));
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw new InputError(`${path} cannot be read. Write the report again.`, { cause });
  }
}
