import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { InputError } from "../console/program.ts";
import type { RowIssue } from "../exports/contact.ts";
import { openFiles } from "../importer/maps.ts";
import { rowsToSend } from "../importer/rows-to-send.ts";
import { surveyFiles } from "../importer/survey.ts";
import type { RowToSend } from "./send-rows.ts";

/** One file of an export. */
export interface ExportFile {
  /** The path below the folder. */
  readonly name: string;
  readonly layout: string;
  readonly rows: number;
}

/** The valid rows, with the strictest consent of their people, and the invalid ones with all their problems. */
export interface CheckedRows {
  readonly valid: readonly RowToSend[];
  readonly invalid: readonly { readonly row: RowToSend; readonly issues: readonly RowIssue[] }[];
}

/** Reads all CSV files in a folder and its subfolders as the importer does. A row with a problem of any value is left out. */
export async function readExports(
  folder: string,
  signal: AbortSignal,
): Promise<{ files: ExportFile[]; checked: CheckedRows }> {
  const names = (await namesIn(folder)).filter((name) => name.toLowerCase().endsWith(".csv"));
  if (names.length === 0) throw new InputError(`${folder}: holds no CSV file.`);
  const paths = names.toSorted().map((name) => join(folder, name));
  const mapped = await openFiles({ files: paths, map: undefined, encoding: undefined }, signal);
  for (const { file, open, mapPath } of mapped)
    if (open.length > 0)
      throw new InputError(
        `${file.path}: nobody has said what these columns are: ${open.join(", ")}. Write it to ${mapPath}.`,
      );
  const survey = await surveyFiles(mapped, { signal });
  const valid: RowToSend[] = [];
  const invalid: { row: RowToSend; issues: readonly RowIssue[] }[] = [];
  for await (const { row: read, contact, issues: ofRow, notes } of rowsToSend(survey, {
    consent: undefined,
    listId: undefined,
  })) {
    const issues = [...ofRow, ...notes.flatMap(({ issue }) => issue ?? [])];
    const row = { ...read, contact, file: relative(folder, read.file) };
    if (issues.length > 0) invalid.push({ row, issues });
    else valid.push(row);
  }
  const files = survey.files.map(({ plan, rows }) => ({
    name: relative(folder, plan.file.path),
    layout: plan.layout,
    rows,
  }));
  return { files, checked: { valid, invalid } };
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder, { recursive: true });
  } catch (cause) {
    throw new InputError(`${folder}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
