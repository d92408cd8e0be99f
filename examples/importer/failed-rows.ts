import { basename } from "node:path";
import { counted } from "../console/counted.ts";
import { say, type Output } from "../console/terminal.ts";
import { printable } from "../console/text-width.ts";
import type { People } from "../exports/people.ts";
import type { ImporterArguments } from "./arguments.ts";
import { Reasons } from "./reasons.ts";
import { Report } from "./report.ts";
import type { SettledRow } from "./settled-rows.ts";

/** Of a row that was imported: until it is corrected, another row of the report is in doubt. */
export const stopsAnother =
  "was imported, but holds a refusal, or a word that is not known, which may be about a person who is not: correct the " +
  "address, number or word here or there";

/** The rows that were not imported: prints the reasons with the first rows, and writes all rows to the report. */
export class FailedRows {
  readonly #report: Report | undefined;
  readonly #reasons = new Reasons();
  #count = 0;

  private constructor(report: Report | undefined) {
    this.#report = report;
  }

  /** Throws a `UsageError` if the report would replace another file. */
  static async open(options: ImporterArguments): Promise<FailedRows> {
    const { reportFolder: folder } = options;
    return new FailedRows(folder === undefined ? undefined : await Report.open(folder, options));
  }

  get count(): number {
    return this.#count;
  }

  /** Each reason with its count. */
  titles(): string[] {
    return this.#reasons.titles();
  }

  async add(settled: SettledRow, reason: string): Promise<void> {
    const { file, number } = settled.row;
    this.#count += 1;
    this.#reasons.add(`${printable(basename(file))}, row ${number}`, reason);
    await this.#report?.add(settled, reason);
  }

  /** Writes a row that was imported to the report, with what somebody should know of it. */
  async keep(settled: SettledRow, remark: string): Promise<void> {
    await this.#report?.add(settled, remark);
  }

  async print(
    output: Output,
    { isComplete, people }: { isComplete: boolean; people: People },
  ): Promise<void> {
    const { written: paths, removed } = (await this.#report?.end(isComplete, people)) ?? {
      written: [],
      removed: [],
    };
    if (removed.length > 0)
      say(output, `Removed the report of an earlier import: ${removed.map(printable).join(", ")}.`);
    if (this.#count === 0) return;
    say(output, `${counted(this.#count, "row is", "rows are")} not imported:`, ...this.#reasons.lines());
    if (this.#report === undefined)
      say(output, "With --report FOLDER they are written to files that can be corrected and imported.");
    if (paths.length === 0) return;
    const files = paths.length === 1 ? "that file" : "those files together";
    say(
      output,
      `Written to ${paths.map(printable).join(", ")}: correct them, and import ${files} with the same options.`,
    );
  }
}
