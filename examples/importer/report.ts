import { access, constants, mkdir, readFile, realpath, rm } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import * as z from "zod";
import { replaceFile, Replacement } from "../../src/files/replacement.ts";
import { counted, inFull } from "../console/counted.ts";
import { InputError } from "../console/program.ts";
import { type Output, say } from "../console/terminal.ts";
import { printable } from "../console/text-width.ts";
import { type CsvFile, distinct, openCsv, reasonHeading } from "../exports/csv-file.ts";
import { csvLine } from "../exports/csv-format.ts";
import type { People } from "../exports/people.ts";
import type { ReadRow } from "../exports/read-row.ts";
import { parts } from "../exports/row-words.ts";
import type { ImporterArguments } from "./arguments.ts";
import { mapPathOf } from "./maps.ts";
import type { RowToSend } from "./rows-to-send.ts";
import type { FileSurvey } from "./survey.ts";

/** Lines of many rows under their titles, with counts and the first of them. */
export class Groups {
  readonly #groups = new Map<string, { count: number; first: string[] }>();

  add(title: string, line: string): void {
    const group = this.#groups.get(title) ?? { count: 0, first: [] };
    group.count += 1;
    if (group.first.length < 5) group.first.push(printable(line));
    this.#groups.set(title, group);
  }

  /** The most frequent first. */
  get all() {
    const groups = Array.from(this.#groups, ([title, group]) => ({ title: printable(title), ...group }));
    return groups.toSorted((one, other) => other.count - one.count);
  }
}

/** "people.csv, row 2": with the folder, as it was given, because another file may have the same name. */
export const placeOf = ({ file, number }: Pick<ReadRow, "file" | "number">) => `${file}, row ${number}`;

/**
 * The rows that are not imported: prints the reasons with the first rows, and writes all rows to `--report`, each file under
 * its own name (Mailchimp's states the consent), with its columns and one more: the reason.
 */
export class Report {
  readonly #options: ImporterArguments;
  /** The path of the report of each file; empty without `--report`. */
  readonly #paths: ReadonlyMap<string, string>;
  readonly #files = new Map<string, { lines: Replacement; survey: FileSurvey }>();
  readonly #reasons = new Groups();
  count = 0;

  constructor(options: ImporterArguments, paths: ReadonlyMap<string, string> = new Map()) {
    this.#options = options;
    this.#paths = paths;
  }

  /** Throws an `InputError` if it cannot write there, or would replace another file than a report, or one being imported. */
  static async open(options: ImporterArguments): Promise<Report> {
    const { files, reportFolder } = options;
    if (reportFolder === undefined) return new Report(options);
    const isReady = mkdir(reportFolder, { recursive: true }).then(() => access(reportFolder, constants.W_OK));
    await isReady.catch((cause: unknown) => {
      throw new InputError(`--report cannot write to ${reportFolder}: ${String(cause)}`, { cause });
    });
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

  /** The reason begins with the field that it concerns. */
  async add(row: RowToSend, reason: string): Promise<void> {
    this.count += 1;
    this.#reasons.add(/^[\w ]+(?=: )/.exec(reason)?.[0] ?? "the service", `${placeOf(row.row)}: ${reason}`);
    await this.keep(row, reason);
  }

  /** Writes a row to its file, with what somebody should know of it. */
  async keep({ row, file: survey }: RowToSend, remark: string): Promise<void> {
    const path = this.#paths.get(row.file);
    if (path === undefined) return;
    const { headings, cells } = row.source;
    const own = headings.flatMap((heading, index) => (heading === reasonHeading ? [] : [index]));
    let file = this.#files.get(row.file);
    if (file === undefined) {
      file = { lines: new Replacement(path), survey };
      this.#files.set(row.file, file);
      // The byte-order mark marks UTF-8, whatever encoding the other files have.
      file.lines.write(`\ufeff${csvLine([...own.map((index) => headings[index]!), reasonHeading])}`);
    }
    // An incomplete line is padded, so that the reason is in its own column. Surplus cells stay behind it, and can be seen.
    const line = own.map((index) => cells[index] ?? "");
    const surplus = cells.slice(headings.length).map((cell) => (cell.trim() === "" ? "(blank)" : cell));
    file.lines.write(csvLine([...line, remark, ...surplus]));
  }

  /** Prints the reasons, before or after the import. */
  print(output: Output, isBefore: boolean): void {
    if (this.count === 0) return;
    const rows = counted(this.count, "row");
    const verb = isBefore ? "will not be" : this.count === 1 ? "is not" : "are not";
    const lines = this.#reasons.all.flatMap(({ title, count, first }) => [
      ` ${title}: ${inFull(count)}`,
      ...first.map((line) => `  ${line}`),
      ...(count > first.length ? [`  … and ${inFull(count - first.length)} more`] : []),
    ]);
    say(output, `${rows} ${verb} imported:`, ...lines);
  }

  /** Closes the files, and removes the report of an earlier import if its file has no failed row now. */
  async end(output: Output, { isComplete, people }: { isComplete: boolean; people: People }): Promise<void> {
    const written: string[] = [];
    for (const [source, path] of this.#paths) {
      const file = this.#files.get(source);
      if (file) {
        const { lines, survey } = file;
        lines.commit();
        // The report is imported by the map of its file, without a question.
        const map = mapPathOf(path, this.#options);
        if (resolve(survey.mapPath) !== resolve(map))
          replaceFile(map, [await readFile(survey.mapPath, "utf8")]);
        // With --consent its rows need the same again.
        const hasConsents = this.#options.consent === undefined && survey.hasConsents;
        const refusals: Refusals = { version: 1, hasConsents, people: people.refusals() };
        replaceFile(refusalsPathOf(path), [`${JSON.stringify(refusals)}\n`]);
        written.push(path);
      } else if (isComplete)
        await Promise.all([path, refusalsPathOf(path)].map((old) => rm(old, { force: true })));
    }
    if (this.#paths.size === 0 && this.count > 0)
      say(output, "With --report FOLDER they are written to files that can be corrected and imported.");
    if (written.length === 0) return;
    const files = written.length === 1 ? "that file" : "those files together";
    const remedy =
      this.count === 0
        ? "there is nothing to correct, as these rows were imported"
        : `correct them, and import ${files} with the same options and another folder for --report`;
    say(output, `Written to ${written.map(printable).join(", ")}: ${remedy}.`);
  }
}

// What cannot be read is none.
const isReport = (path: string, { encoding }: ImporterArguments) =>
  openCsv(path, { encoding }).then(
    ({ headings }) => headings.includes(reasonHeading),
    () => false,
  );

const refusalsPathOf = (report: string) => `${report}.refused.json`;

const refusalsSchema = z.strictObject({
  version: z.literal(1),
  /** Whether the file had consents: a row of its report then needs none either. */
  hasConsents: z.boolean(),
  /** Who has refused, by the hash of an address, a number or an id: a corrected row may be about one of them. */
  people: z.record(z.string(), z.record(z.enum(parts), z.number().min(0))),
});

type Refusals = z.output<typeof refusalsSchema>;

/** The refusals that a report has beside it, and must have; undefined if the file is no report. */
export async function readRefusals({ path: report, headings }: CsvFile): Promise<Refusals | undefined> {
  const path = refusalsPathOf(report);
  try {
    return refusalsSchema.parse(JSON.parse(await readFile(path, "utf8")));
  } catch (cause) {
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    if (isMissing && !headings.includes(reasonHeading)) return undefined;
    const remedy = isMissing
      ? `is missing. ${report} is a report, and that file holds who has refused. Put it there under this name, or delete the ` +
        `column ${JSON.stringify(reasonHeading)} and import the file together with the original one`
      : "cannot be read. Write the report again";
    throw new InputError(`${path} ${remedy}. Nothing was sent.`, { cause });
  }
}
