import { basename } from "node:path";
import { replaceFile } from "../../src/files/replacement.ts";
import { shortened } from "../console/counted.ts";
import { InputError } from "../console/program.ts";
import { type Output, say } from "../console/terminal.ts";
import { printable } from "../console/text-width.ts";
import { ColumnCells, readColumns } from "../exports/column-cells.ts";
import {
  type ColumnMap,
  type ColumnRule,
  inOneLine,
  isEveryoneOpen,
  mapText,
  openColumns,
  readMap,
} from "../exports/column-map.ts";
import { quotedWord } from "../exports/contact-values.ts";
import { type CsvFile, openCsv } from "../exports/csv-file.ts";
import { proposeMap, wordsToAsk } from "../exports/propose-map.ts";
import { wordOf } from "../exports/words.ts";
import type { ImporterArguments } from "./arguments.ts";
import type { Questions } from "./questions.ts";

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
  /** The cells of the columns, by their names. */
  readonly cells: ReadonlyMap<string, ColumnCells>;
}

/** The path of a file's map: beside the file, or `--map`. */
export const mapPathOf = (path: string, { map }: Pick<ImporterArguments, "map">) => map ?? `${path}.map.json`;

/** Opens the files, and reads or proposes their maps. */
export async function openFiles(
  options: Pick<ImporterArguments, "files" | "map" | "encoding">,
  signal: AbortSignal,
): Promise<MappedFile[]> {
  const files: MappedFile[] = [];
  for (const path of options.files) {
    const file = await openCsv(path, { encoding: options.encoding });
    files.push(await openFile(file, mapPathOf(path, options), signal));
  }
  refuseLostColumns(files);
  return files;
}

async function openFile(file: CsvFile, mapPath: string, signal: AbortSignal): Promise<MappedFile> {
  const given = await readMap(mapPath);
  const cells = await readColumns(file, signal);
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
    const consents = [...map.columns.keys()].filter((name) => typeof map.columns.get(name) !== "string");
    const lost = consents.find((name) => !file.names.includes(name));
    if (lost === undefined) continue;
    const like = file.names.find((name) => wordOf(name) === wordOf(lost));
    throw new InputError(
      `${file.path}: the column ${JSON.stringify(lost)}, which ${mapPath} reads as a consent, is missing. ` +
        (like === undefined ? "" : `The file has ${JSON.stringify(like)}, which is another one. `) +
        "Take it out of the map if it is gone for good, or give the file a map of its own.",
    );
  }
}

const isUnanswered = ({ open, map }: MappedFile) => open.length > 0 || isEveryoneOpen(map);

/** Two files may differ in what a column holds: its skeleton has the words of both. */
function joinedRule(one: ColumnRule, other: ColumnRule): ColumnRule {
  if (JSON.stringify(one) === JSON.stringify(other)) return one;
  const [first, second] = [one, other].filter((rule) => typeof rule !== "string");
  if (first === undefined) return "?";
  const words = { ...first.words, ...second?.words };
  for (const [word, meaning] of Object.entries(first.words))
    if (JSON.stringify(meaning) !== JSON.stringify(words[word])) words[word] = "?";
  return { consent: first.consent === second?.consent ? first.consent : "?", words };
}

/** Writes the maps, and tells it; those of one path as one. */
function writeMaps(files: readonly MappedFile[], output: Output): void {
  for (const path of new Set(files.map(({ mapPath }) => mapPath))) {
    const own = files.filter(({ mapPath }) => mapPath === path);
    const columns = new Map<string, ColumnRule>();
    for (const [name, rule] of own.flatMap(({ map }) => [...map.columns]))
      columns.set(name, joinedRule(columns.get(name) ?? rule, rule));
    const { everyone, unnamed } = own[0]!.map;
    const isOne = own.every(({ map }) => JSON.stringify(map.everyone) === JSON.stringify(everyone));
    const text = mapText({ columns, everyone: isOne ? everyone : { email: "?", phone: "?" }, unnamed });
    replaceFile(path, [text], { keepsMode: true });
    say(output, `${printable(path)} says what each column becomes.`);
  }
}

/**
 * Answers the maps: on a terminal by questions, whose answers are written; elsewhere a first map is written with its `?`.
 * Returns the files with their answers, or `undefined` if something is not answered, and nothing may be sent.
 */
export async function answerMaps(
  files: readonly MappedFile[],
  questions: Questions | undefined,
  { output, errors }: { readonly output: Output; readonly errors: Output },
): Promise<readonly MappedFile[] | undefined> {
  const asked = new Set(files.filter(isUnanswered).map(({ mapPath }) => mapPath));
  const own =
    questions === undefined ? files : await questions.answers(async () => await askAll(files, questions));
  const toWrite = own.filter(
    ({ isGiven, mapPath }) => !isGiven || (questions !== undefined && asked.has(mapPath)),
  );
  writeMaps(toWrite, output);
  const open = own.filter(isUnanswered);
  if (open.length === 0) return own;
  for (const file of open) say(errors, ...openLines(file));
  say(
    errors,
    'Replace each "?": a "consent" is "email", "phone" or "both", or "property", "ignore" or a field if it is none; a word is',
    '"SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED", "none" or "hold". A terminal asks instead. Nothing was sent.',
  );
  return undefined;
}

async function askAll(files: readonly MappedFile[], questions: Questions): Promise<MappedFile[]> {
  const known = new Map<string, ColumnRule>();
  const own: MappedFile[] = [];
  for (const file of files) {
    const columns = new Map(file.map.columns);
    for (const name of file.open) {
      // Files with one map are asked once.
      const key = JSON.stringify([file.mapPath, name]);
      const cells = file.cells.get(name) ?? new ColumnCells();
      const rule = known.get(key) ?? (await questions.column(name, cells, columns.get(name)));
      known.set(key, rule);
      columns.set(name, rule);
    }
    const everyone = isEveryoneOpen(file.map)
      ? await questions.everyone(basename(file.file.path))
      : file.map.everyone;
    own.push({ ...file, map: { ...file.map, columns, everyone }, open: [] });
  }
  return own;
}

/** The open columns of a file, with their words, and the lines to write. */
function openLines({ file, map, mapPath, isGiven, open, cells }: MappedFile): string[] {
  const lines = open.flatMap((name) => {
    const words = wordsToAsk(cells.get(name) ?? new ColumnCells())
      .filter(([word]) => word !== "")
      .map(([word, rows]) => `${quotedWord(printable(word))}${rows === undefined ? "" : ` (${rows})`}`);
    const heading = JSON.stringify(printable(name));
    const rule = map.columns.get(name);
    return [
      `  ${heading}: ${shortened(words, 12).join(", ")}`,
      ...(isGiven && rule !== undefined && rule !== "?" ? [`    ${heading}: ${inOneLine(rule)}`] : []),
    ];
  });
  const [path, shownMap] = [printable(file.path), printable(mapPath)];
  if (lines.length > 0)
    lines.unshift(`${path}: nobody has said what these columns are. ${shownMap} must say it:`);
  if (isEveryoneOpen(map))
    lines.push(
      `${path}: by its name it may be a list of people who left. In ${shownMap} "everyone" must say`,
      '  what it means: "UNSUBSCRIBED" for a channel, or "none" where only its columns count.',
    );
  return lines;
}
