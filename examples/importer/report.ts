import { mkdir, writeFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { noteHeadings, type RowIssue } from "../exports/csv-row.ts";
import type { ImportedRow } from "../exports/imported-row.ts";
import { reportNote } from "../exports/report-note.ts";

/** A row that was not imported, and why. */
export interface FailedRow {
  readonly row: ImportedRow;
  readonly issues: readonly RowIssue[];
  readonly reason: string;
}

/**
 * Writes the failed rows of each file under its own name, which may say what the rows are (Mailchimp's does), with the
 * same columns and two more: why the row failed, and what else must be known of it. Gives the paths.
 */
export async function writeReport(folder: string, failed: readonly FailedRow[]): Promise<string[]> {
  const files = new Map<string, FailedRow[]>();
  for (const each of failed) files.set(each.row.file, [...(files.get(each.row.file) ?? []), each]);
  if (files.size > 0) await mkdir(folder, { recursive: true });
  const paths: string[] = [];
  for (const [file, rows] of files) {
    const path = join(folder, freeName(basename(file), paths));
    await writeFile(path, csvOf(rows));
    paths.push(path);
  }
  return paths;
}

function freeName(name: string, taken: readonly string[]): string {
  const isTaken = (candidate: string) => taken.some((path) => basename(path) === candidate);
  const ending = extname(name);
  for (let count = 1; ; count++) {
    const candidate = count === 1 ? name : `${name.slice(0, name.length - ending.length)}-${count}${ending}`;
    if (!isTaken(candidate)) return candidate;
  }
}

function csvOf(rows: readonly FailedRow[]): string {
  const headings = rows[0]?.row.source.headings ?? [];
  const lines = rows.map(({ row, issues, reason }) => {
    // A line that was cut short is filled up, so that what stands behind it is in its own column.
    const filling = Array.from({ length: Math.max(0, headings.length - row.source.cells.length) }, () => "");
    return [...row.source.cells, ...filling]
      .slice(0, headings.length)
      .concat(reason, reportNote(row.contact, issues));
  });
  return [[...headings, noteHeadings.reason, noteHeadings.note], ...lines]
    .map((cells) => `${cells.map(csvCell).join(",")}\r\n`)
    .join("");
}

function csvCell(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
