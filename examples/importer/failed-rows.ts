import { basename } from "node:path";
import { counted, inFull } from "../console/counted.ts";
import { say, type Output } from "../console/terminal.ts";
import { printable } from "../console/text-width.ts";
import type { People } from "../exports/people.ts";
import type { ReadRow } from "../exports/read-row.ts";
import type { Report } from "./report.ts";
import type { RowToSend } from "./rows-to-send.ts";

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

/** "people.csv, row 2" */
export const placeOf = ({ file, number }: Pick<ReadRow, "file" | "number">) =>
  `${basename(file)}, row ${number}`;

/** The rows that are not imported: prints the reasons with the first rows, and writes all rows to the report. */
export class FailedRows {
  readonly #report: Report | undefined;
  readonly #reasons = new Groups();
  count = 0;

  constructor(report?: Report) {
    this.#report = report;
  }

  /** The reason begins with the field that it concerns. */
  async add(row: RowToSend, reason: string): Promise<void> {
    this.count += 1;
    this.#reasons.add(/^[\w ]+(?=: )/.exec(reason)?.[0] ?? "the service", `${placeOf(row.row)}: ${reason}`);
    await this.keep(row, reason);
  }

  /** Writes a row to the report, with what somebody should know of it. */
  async keep(row: RowToSend, remark: string): Promise<void> {
    await this.#report?.add(row, remark);
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

  /** Closes the report. */
  async end(output: Output, { isComplete, people }: { isComplete: boolean; people: People }): Promise<void> {
    const written = (await this.#report?.end(isComplete, people)) ?? [];
    if (this.#report === undefined && this.count > 0)
      say(output, "With --report FOLDER they are written to files that can be corrected and imported.");
    if (written.length === 0) return;
    const files = written.length === 1 ? "that file" : "those files together";
    const remedy =
      this.count === 0
        ? "there is nothing to correct, as these rows were imported"
        : `correct them, and import ${files} with the same options`;
    say(output, `Written to ${written.map(printable).join(", ")}: ${remedy}.`);
  }
}
