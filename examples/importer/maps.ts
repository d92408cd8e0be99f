import { basename } from "node:path";
import { replaceFile } from "../../src/files/replacement.ts";
import { type ColumnCells, readColumns } from "../exports/column-cells.ts";
import {
  type ColumnMap,
  ColumnMapError,
  type ColumnRule,
  isEveryoneOpen,
  mapText,
  openColumns,
  readMap,
} from "../exports/column-map.ts";
import { type CsvFile, openCsv } from "../exports/csv-file.ts";
import { proposeMap } from "../exports/propose-map.ts";
import type { ImporterArguments } from "./arguments.ts";

/** A file and its map. */
export interface MappedFile {
  readonly file: CsvFile;
  readonly mapPath: string;
  /** The map as it is: that of the file, with the proposals for its further columns. */
  readonly map: ColumnMap;
  /** Whether there was a map. */
  readonly isGiven: boolean;
  /** The columns of this file that are not answered. */
  readonly open: readonly string[];
  /** The cells of the columns that are no field and no consent, by their names. */
  readonly cells: ReadonlyMap<string, ColumnCells>;
}

/** The path of a file's map: beside the file, or `--map`. */
export function mapPathOf(path: string, { map }: Pick<ImporterArguments, "map">): string {
  return map ?? `${path}.map.json`;
}

/** Opens the files, and reads or proposes their maps. */
export async function openFiles(options: ImporterArguments, signal: AbortSignal): Promise<MappedFile[]> {
  const files: MappedFile[] = [];
  for (const path of options.files) {
    const file = await openCsv(path, { encoding: options.encoding });
    files.push(await openFile(file, mapPathOf(path, options), signal));
  }
  refuseLostColumns(files);
  refuseTwoMeanings(files, options);
  return files;
}

async function openFile(file: CsvFile, mapPath: string, signal: AbortSignal): Promise<MappedFile> {
  const given = await readMap(mapPath);
  const isData = (rule: ColumnRule) => typeof rule !== "string" || /^(property|ignore|\?)/.test(rule);
  const cells = await readColumns(file, (name) => isData(given?.columns.get(name) ?? "?"), signal);
  const proposed = proposeMap(file, cells);
  const columns = new Map([...proposed.columns, ...(given?.columns ?? [])]);
  const map = { columns, everyone: given === undefined ? proposed.everyone : given.everyone };
  // A column of consent that comes later is told, also where its words are known.
  const isNew = (name: string) =>
    given !== undefined && !given.columns.has(name) && typeof columns.get(name) === "object";
  return {
    file,
    mapPath,
    isGiven: given !== undefined,
    map: { ...map, unnamed: given?.unnamed },
    open: [...new Set([...openColumns(map), ...file.names.filter(isNew)])],
    cells,
  };
}

/** Without its column of refusals a file would say something better of everybody, also beside another file that has it. */
function refuseLostColumns(files: readonly MappedFile[]): void {
  for (const { file, map, mapPath } of files) {
    const names = new Set(file.names);
    const lost = Array.from(map.columns).find(([name, rule]) => typeof rule !== "string" && !names.has(name));
    if (lost !== undefined)
      throw new ColumnMapError(
        `${file.path}: the column ${JSON.stringify(lost[0])}, which ${mapPath} reads as a consent, is missing. ` +
          "Take it out of the map if it is gone for good, or give the file a map of its own.",
      );
  }
}

/** One map for several files: what the files mean as a whole must be the same. */
function refuseTwoMeanings(files: readonly MappedFile[], { map }: Pick<ImporterArguments, "map">): void {
  const first = files[0];
  if (map === undefined || first === undefined || first.isGiven) return;
  const text = ({ everyone }: ColumnMap) => JSON.stringify(everyone);
  const other = files.find((file) => text(file.map) !== text(first.map));
  if (other !== undefined)
    throw new ColumnMapError(
      `${basename(first.file.path)} and ${basename(other.file.path)} do not mean the same of everyone in them: ` +
        "leave --map out, so that each has a map of its own.",
    );
}

/** Whether something is not answered yet. */
export function isUnanswered({ open, map }: MappedFile): boolean {
  return open.length > 0 || isEveryoneOpen(map);
}

/** Writes the maps; those of one path as one. */
export function writeMaps(files: readonly MappedFile[]): void {
  for (const path of new Set(files.map(({ mapPath }) => mapPath))) {
    const own = files.filter(({ mapPath }) => mapPath === path);
    const columns = new Map<string, ColumnRule>();
    for (const [name, rule] of own.flatMap(({ map }) => [...map.columns])) {
      const known = columns.get(name);
      // Two files may differ in what a column holds.
      const isSame = known === undefined || JSON.stringify(known) === JSON.stringify(rule);
      columns.set(name, isSame ? rule : "?");
    }
    const { everyone, unnamed } = own[0]!.map;
    replaceFile(path, [mapText({ columns, everyone, unnamed })], { keepsMode: true });
  }
}
