import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readColumns } from "./column-cells.ts";
import { openColumns, readMap } from "./column-map.ts";
import { CsvFileError, openCsv } from "./csv-file.ts";
import { planFile } from "./file-plan.ts";
import { proposeMap } from "./propose-map.ts";
import { type ReadRow, readRow } from "./read-row.ts";

/** One file of an export. */
export interface ExportFile {
  /** The path below the folder. */
  readonly name: string;
  readonly layout: string;
  readonly rows: readonly ReadRow[];
}

/** Reads all CSV files in a folder and its subfolders, in order of their names. */
export async function readExports(folder: string): Promise<ExportFile[]> {
  const names = (await namesIn(folder)).filter((name) => name.toLowerCase().endsWith(".csv"));
  if (names.length === 0) throw new CsvFileError(`${folder}: holds no CSV file.`);
  return await Promise.all(names.toSorted().map((name) => readExport(folder, name)));
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder, { recursive: true });
  } catch (cause) {
    throw new CsvFileError(`${folder}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

async function readExport(folder: string, name: string): Promise<ExportFile> {
  const file = await openCsv(join(folder, name));
  const map = (await readMap(`${file.path}.map.json`)) ?? proposeMap(file, await readColumns(file));
  const open = openColumns(map);
  if (open.length > 0)
    throw new CsvFileError(
      `${file.path}: nobody has said what these columns are: ${open.join(", ")}. Write it to ${file.path}.map.json.`,
    );
  const plan = planFile(file, map);
  const rows: ReadRow[] = [];
  for await (const row of file.rows()) rows.push({ ...readRow(plan, row), file: name });
  return { name, layout: plan.layout, rows };
}
