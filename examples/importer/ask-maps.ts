import { basename } from "node:path";
import { type Output, say } from "../console/terminal.ts";
import { printable } from "../console/text-width.ts";
import { ColumnCells, mostWords } from "../exports/column-cells.ts";
import type { ColumnRule } from "../exports/column-map.ts";
import { isNamedAsRefusal } from "../exports/floor.ts";
import { wordsToAsk } from "../exports/propose-map.ts";
import { answered, isUnanswered, type MappedFile, writeMaps } from "./maps.ts";
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
  if (questions !== undefined) {
    const asked = files.filter(isUnanswered);
    const own = await askAll(files, questions);
    const toWrite = own.filter(
      (file) => !file.isGiven || asked.some(({ mapPath }) => mapPath === file.mapPath),
    );
    await writeMaps(toWrite);
    sayWritten(toWrite, output);
    return own;
  }
  const isNew = files.filter(({ isGiven }) => !isGiven);
  await writeMaps(isNew);
  sayWritten(isNew, output);
  const open = files.filter(isUnanswered);
  if (open.length === 0) return files;
  for (const file of open) say(errors, ...openLines(file));
  say(errors, "Answer in the map, or run it on a terminal, which asks. Nothing was sent.");
  return undefined;
}

function sayWritten(files: readonly MappedFile[], output: Output): void {
  for (const path of new Set(files.map(({ mapPath }) => mapPath)))
    say(output, `${printable(path)} says what each column becomes.`);
}

async function askAll(files: readonly MappedFile[], questions: Questions): Promise<MappedFile[]> {
  const known = new Map<string, ColumnRule>();
  const own: MappedFile[] = [];
  for (const file of files) {
    const answers = new Map<string, ColumnRule>();
    for (const name of file.open) {
      // Files with one map are asked once.
      const key = JSON.stringify([file.mapPath, name]);
      const rule =
        known.get(key) ?? (await questions.column(name, file.cells.get(name) ?? new ColumnCells()));
      known.set(key, rule);
      answers.set(name, rule);
    }
    const { everyone } = file.map;
    const all = everyone === "?" ? await questions.everyone(basename(file.file.path)) : everyone;
    own.push({ ...file, map: answered(file, answers, all), open: [] });
  }
  return own;
}

/** The open columns of a file, with their words, and the line to write. */
function openLines({ file, map, mapPath, open, cells }: MappedFile): string[] {
  const lines = open.map((name) => {
    const own = cells.get(name);
    const words = own === undefined ? [] : wordsToAsk(own);
    const shown = words
      .slice(0, 12)
      .map(
        ({ word, people }) =>
          `${JSON.stringify(printable(word))}${people === undefined ? "" : ` (${people})`}`,
      );
    const isCut = words.length > shown.length && words.length <= mostWords;
    const further = isCut ? ` and ${words.length - shown.length} more` : "";
    const rule = map.columns.get(name);
    const hint = rule === undefined || rule === "?" ? "" : `; perhaps ${JSON.stringify(rule)}`;
    return `  ${JSON.stringify(printable(name))}: ${words.length > mostWords ? "many words" : shown.join(", ")}${further}${hint}`;
  });
  return [
    `${printable(file.path)}: nobody has said what these columns are. ${printable(mapPath)} must say it:`,
    ...lines,
    ...(map.everyone === "?"
      ? [
          `  "everyone": ${isNamedAsRefusal(basename(file.path)) ? "its name is that of a list of people who refused" : "what the file means as a whole"}. Write { "email": "UNSUBSCRIBED" }, or take the line out`,
        ]
      : []),
  ];
}
