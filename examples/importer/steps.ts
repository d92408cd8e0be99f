import { dirname, basename } from "node:path";
import { ValidationError, type BulkResult } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { inWords } from "../console/duration.ts";
import { say, type Output } from "../console/terminal.ts";
import { printable } from "../console/text-width.ts";
import { checkRows } from "../exports/check-rows.ts";
import type { RowIssue } from "../exports/csv-row.ts";
import { readExport, type ImportedRow } from "../exports/imported-row.ts";
import type { ImporterArguments } from "./arguments.ts";
import type { ImporterSurroundings } from "./importer.ts";
import { ProgressLine } from "./progress-line.ts";
import { writeReport, type FailedRow } from "./report.ts";
import type { ImportService } from "./service.ts";
import type { Target } from "./target.ts";

/** A row with the consent it is sent with, and what keeps it from being sent. */
export interface CheckedRow {
  readonly row: ImportedRow;
  readonly issues: readonly RowIssue[];
}

const shownRows = 20;

/** Reads the files, settles each person's consent over all of them, and checks every row. */
export async function readAndCheck(
  files: readonly string[],
  target: Target,
  output: Output,
): Promise<CheckedRow[]> {
  const read: ImportedRow[] = [];
  for (const path of files) {
    const { kind, rows } = await readExport(dirname(path), basename(path));
    say(output, `${String(rows.length).padStart(6)} rows  ${kind.padEnd(23)}  ${printable(path)}`);
    // By the path as it was given: two folders may hold files of one name.
    for (const row of rows) read.push({ ...row, file: path });
  }
  const { valid, invalid } = checkRows(read, (row) => target.issuesOf(row));
  const issues = new Map(invalid.map((each) => [each.row.source, each.issues]));
  const consented = new Map([...valid, ...invalid.map(({ row }) => row)].map((row) => [row.source, row]));
  return read.map((row) => ({ row: consented.get(row.source) ?? row, issues: issues.get(row.source) ?? [] }));
}

/** Says what is wrong and how long the import takes. Sends nothing. */
export async function dryRun(
  checked: readonly CheckedRow[],
  { audience }: ImportService,
  asked: ImporterArguments,
  { output }: ImporterSurroundings,
): Promise<number> {
  const { total, valid, invalid, estimateMs } = await audience.bulk.check(checked, asCheck);
  say(
    output,
    `${valid} of ${total} rows can be imported; that takes about ${inWords(estimateMs)}. Nothing was sent.`,
  );
  const failed = checked
    .filter(({ issues }) => issues.length > 0)
    .map(({ row, issues }) => ({ row, issues, reason: inOneLine(issues) }));
  await tell(failed, asked, output);
  return invalid.length === 0 ? 0 : 1;
}

/** Sends every row that can be, and tells of those that were not imported. */
export async function importAll(
  checked: readonly CheckedRow[],
  {
    service,
    target,
    asked,
    around,
  }: { service: ImportService; target: Target; asked: ImporterArguments; around: ImporterSurroundings },
): Promise<number> {
  const { output, signal } = around;
  const { audience } = service;
  const failed: FailedRow[] = [];
  const line = new ProgressLine(output);
  const run = audience.bulk(
    checked,
    async ({ row, issues }, request) => {
      if (issues.length > 0) throw asCheck({ row, issues }).error;
      return await target.send(audience, row, request);
    },
    {
      key: ({ row }) => `${asked.family} ${asked.listId ?? ""} ${row.id}`,
      onProgress: (progress) => line.show(progress),
      signal,
      ...(asked.checkpoint === undefined ? {} : { checkpoint: fileCheckpoint(asked.checkpoint) }),
    },
  );
  try {
    for await (const result of run) {
      const reason = reasonOf(result);
      if (reason !== undefined) failed.push({ ...result.item, reason });
    }
  } finally {
    line.end();
    await tell(failed, asked, output);
  }
  const { succeeded, skipped, total, durationMs } = await run.summary();
  const before = skipped === 0 ? "" : `, ${skipped} had been before`;
  say(output, `${succeeded} of ${total} rows were imported in ${inWords(durationMs)}${before}.`);
  return failed.length === 0 ? 0 : 1;
}

/** As a schema's `safeParse` tells it. */
function asCheck({ issues }: CheckedRow) {
  const error = new ValidationError(
    issues.map(({ field, message }) => ({ path: [field], code: "invalid_row", message })),
  );
  return { success: issues.length === 0, error };
}

/** Why a row was not imported; undefined where it was. */
function reasonOf({ item, status, error }: BulkResult<CheckedRow, unknown>): string | undefined {
  if (status === "succeeded" || status === "skipped") return undefined;
  if (item.issues.length > 0) return inOneLine(item.issues);
  const doubt =
    status === "unknown" ? " (it may have been imported all the same; importing it again is safe)" : "";
  return `${error instanceof Error ? error.message : String(error)}${doubt}`;
}

async function tell(
  failed: readonly FailedRow[],
  { reportFolder }: ImporterArguments,
  output: Output,
): Promise<void> {
  if (failed.length === 0) return;
  say(output, `${failed.length} rows are not imported:`);
  for (const { row, reason } of failed.slice(0, shownRows))
    say(output, `  ${printable(basename(row.file))}, row ${row.number}: ${printable(reason)}`);
  if (failed.length > shownRows) say(output, `  … and ${failed.length - shownRows} more.`);
  if (reportFolder === undefined)
    say(output, "With --report FOLDER they are written to files that can be mended and imported.");
  else
    for (const path of await writeReport(reportFolder, failed))
      say(output, `Written to ${printable(path)}: mend them, and import that file.`);
}

function inOneLine(issues: readonly RowIssue[]): string {
  return issues.map(({ field, message }) => `${field}: ${message}`).join("; ");
}
