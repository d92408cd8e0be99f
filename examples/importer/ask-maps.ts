import { basename } from "node:path";
import { type Output, say } from "../console/terminal.ts";
import { printable } from "../console/text-width.ts";
import { ColumnCells, mostWords } from "../exports/column-cells.ts";
import { type ColumnRule, inOneLine, isEveryoneOpen } from "../exports/column-map.ts";
import { wordsToAsk } from "../exports/propose-map.ts";
import { isUnanswered, type MappedFile, writeMaps } from "./maps.ts";
import type { Questions } from "./questions.ts";

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
  writeMaps(toWrite);
  for (const path of new Set(toWrite.map(({ mapPath }) => mapPath)))
    say(output, `${printable(path)} says what each column becomes.`);
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

const shownWords = 12;

/** The open columns of a file, with their words, and the lines to write. */
function openLines({ file, map, mapPath, isGiven, open, cells }: MappedFile): string[] {
  const lines = open.flatMap((name) => {
    const words = wordsToAsk(cells.get(name) ?? new ColumnCells()).filter(({ word }) => word !== "");
    const shown = words
      .slice(0, shownWords)
      .map(
        ({ word, people }) =>
          `${JSON.stringify(printable(word))}${people === undefined ? "" : ` (${people})`}`,
      );
    const further = words.length > shownWords ? ` and ${words.length - shownWords} more` : "";
    const heading = JSON.stringify(printable(name));
    const rule = map.columns.get(name);
    return [
      `  ${heading}: ${words.length > mostWords ? "many words" : shown.join(", ") + further}`,
      ...(isGiven && rule !== undefined && rule !== "?" ? [`    ${heading}: ${inOneLine(rule)}`] : []),
    ];
  });
  return [
    ...(lines.length === 0
      ? []
      : [
          `${printable(file.path)}: nobody has said what these columns are. ${printable(mapPath)} must say it:`,
        ]),
    ...lines,
    ...(isEveryoneOpen(map)
      ? [
          `${printable(file.path)}: by its name it may be a list of people who left. In ${printable(mapPath)} "everyone" must say`,
          '  what it means: "UNSUBSCRIBED" for a channel, or "none" where only its columns count.',
        ]
      : []),
  ];
}
