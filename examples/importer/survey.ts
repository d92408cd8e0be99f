import type { ChannelMeanings } from "../exports/column-map.ts";
import { type FilePlan, planFile } from "../exports/file-plan.ts";
import { People } from "../exports/people.ts";
import { type DoubtfulColumn, doubtfulColumns } from "../exports/propose-map.ts";
import { type ReadRow, readRow } from "../exports/read-row.ts";
import { joined, noWords, valueOf } from "../exports/row-words.ts";
import { anyDate, isBlank, isMoment } from "../exports/words.ts";
import type { ImporterArguments } from "./arguments.ts";
import type { MappedFile } from "./maps.ts";
import { readRefusals } from "./report-refusals.ts";

/** A word of a column of consent: its meanings, and how many rows have it. */
export interface WordCount {
  /** Undefined for a word that the map does not name. */
  readonly meanings: readonly ChannelMeanings[] | undefined;
  rows: number;
}

/** The words of a column: the first ones, and how many rows have another one. */
export interface WordCounts {
  readonly words: Map<string, WordCount>;
  further: number;
}

/** The survey of one file. */
export interface FileSurvey {
  readonly plan: FilePlan;
  readonly mapPath: string;
  /** The columns that are taken for data, and that may be about a consent. */
  readonly doubtful: readonly DoubtfulColumn[];
  rows: number;
  /** Whether it says anything of a consent, or is the report of a file that does. */
  hasConsents: boolean;
  readonly words: ReadonlyMap<number, WordCounts>;
  /** The rows with a refusal that names nobody; empty if the map ignores them. */
  unnamed: ReadRow[];
}

/** The survey of all files, read before anything is sent. It keeps only the consents of the rows. */
export interface Survey {
  readonly files: readonly FileSurvey[];
  readonly people: People;
  readonly rows: number;
}

const mostWords = 20;
// Those are shown, to be added to the map.
const mostUnnamed = 200;

/** Reads the files to their end. */
export async function surveyFiles(
  mapped: readonly MappedFile[],
  { signal, consent }: { signal: AbortSignal; consent?: ImporterArguments["consent"] },
): Promise<Survey> {
  const people = new People();
  const files: FileSurvey[] = [];
  for (const each of mapped) {
    const survey = emptySurvey(each);
    files.push(survey);
    for await (const row of survey.plan.file.rows()) {
      signal.throwIfAborted();
      const read = readRow(survey.plan, row);
      people.add(read);
      count(survey, read);
    }
    const earlier = await readRefusals(survey.plan.file.path);
    if (earlier?.hasConsents === true) survey.hasConsents = true;
    people.addEarlier(earlier?.people ?? []);
    await addMeant(survey, people, { consent, signal });
  }
  people.settle();
  for (const [index, survey] of files.entries())
    survey.unnamed =
      mapped[index]!.map.unnamed === "ignore" ? [] : survey.unnamed.filter((row) => !people.hasOneOf(row));
  return { files, people, rows: files.reduce((sum, { rows }) => sum + rows, 0) };
}

/**
 * Of a file without a consent the user's is the consent of its people, so that it is compared with those of the other
 * files: it may be a list of those who left.
 */
async function addMeant(
  { plan, hasConsents }: FileSurvey,
  people: People,
  { consent, signal }: Pick<ImporterArguments, "consent"> & { signal: AbortSignal },
): Promise<void> {
  if ((consent !== "UNSUBSCRIBED" && consent !== "NON_SUBSCRIBED") || hasConsents) return;
  for await (const row of plan.file.rows()) {
    signal.throwIfAborted();
    const read = readRow(plan, row);
    const channel = read.cells.has("email") ? "email" : "phone";
    people.add({ ...read, words: joined(read.words, { ...noWords, [channel]: valueOf(consent) }) });
  }
}

function emptySurvey(mapped: MappedFile): FileSurvey {
  const plan = planFile(mapped.file, mapped.map);
  const words = new Map<number, WordCounts>(
    plan.columns.flatMap(({ index, use }) =>
      use.kind === "consent" ? [[index, { words: new Map<string, WordCount>(), further: 0 }]] : [],
    ),
  );
  const doubtful = doubtfulColumns(mapped.file, mapped.map, mapped.cells);
  return { plan, mapPath: mapped.mapPath, doubtful, rows: 0, hasConsents: false, words, unnamed: [] };
}

function count(survey: FileSurvey, row: ReadRow): void {
  survey.rows += 1;
  if (row.isUnnamedRefusal) survey.unnamed.push(row);
  if (row.words.email > 0 || row.words.phone > 0) survey.hasConsents = true;
  for (const { column, word, meanings } of row.consentCells) {
    if (isBlank(word)) continue;
    // A word that the map does not name, or holds back, may be one.
    if (meanings?.every((each) => Object.values(each).every((meaning) => meaning === "none")) !== true)
      survey.hasConsents = true;
    // Safe: the survey has an entry for each column of consent.
    const own = survey.words.get(column.index)!;
    const shown = isMoment(word) ? anyDate : word;
    const known = own.words.get(shown);
    if (known !== undefined) known.rows += 1;
    else if (own.words.size < (meanings === undefined ? mostUnnamed : mostWords))
      own.words.set(shown, { meanings, rows: 1 });
    else own.further += 1;
  }
}
