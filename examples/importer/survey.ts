import { namedColumns } from "../exports/column-choice.ts";
import { consentWord } from "../exports/consent-words.ts";
import { type Channel, type OptIn, optIns } from "../exports/contact.ts";
import { openCsv } from "../exports/csv-file.ts";
import { type FilePlan, planFile } from "../exports/file-plan.ts";
import { People } from "../exports/people.ts";
import { type ReadRow, readRow } from "../exports/read-row.ts";
import { isOfFileWithConsents } from "../exports/report-note.ts";
import type { ImporterArguments } from "./arguments.ts";
import type { ReadingLine } from "./reading-line.ts";
import { Remarks } from "./remarks.ts";

/** The number of rows with each consent of a channel; `unstated` rows have none. */
export type ConsentCounts = Record<OptIn | "unstated" | "not understood", number>;

/** The consents in the cells of one column. */
export interface WordCounts {
  /** The number of understood cells, including an ignored no. */
  understood: number;
  readonly states: Record<OptIn, number>;
  /** The first few different words that are not understood; each address counts as `anAddress`. */
  readonly notUnderstood: Map<string, number>;
  /** The number of cells with further words that are not understood. */
  notUnderstoodFurther: number;
  /** The number of cells whose text is more than a state, and is a custom property too. */
  texts: number;
  /** Of a custom property, whether each cell is a yes or a no; undefined if all are blank. */
  isYesOrNo?: boolean;
}

/** The survey of one file. */
export interface FileSurvey {
  readonly plan: FilePlan;
  rows: number;
  /** Lines with another number of cells than headings. */
  misshapen: number;
  /** Whether it is the report of a file with consents, which it may lack itself. */
  isReportOfConsents: boolean;
  readonly consents: Readonly<Record<Channel, ConsentCounts>>;
  readonly words: ReadonlyMap<number, WordCounts>;
  readonly remarks: Remarks;
}

/** The survey of all files, read before anything is sent. It keeps only the consents of the rows. */
export interface Survey {
  readonly files: readonly FileSurvey[];
  readonly people: People;
  readonly rows: number;
}

const mostWords = 5;

/** Stands for every e-mail address in a column about consent. */
export const anAddress = "…@…";

/** Reads the files to their end. */
export async function surveyFiles(
  options: ImporterArguments,
  { line, signal }: { line: ReadingLine; signal: AbortSignal },
): Promise<Survey> {
  const opened = [];
  for (const path of options.files) opened.push(await openCsv(path, { encoding: options.encoding }));
  const choice = namedColumns(options.choice, [...new Set(opened.flatMap((file) => file.headings))]);
  const files: FileSurvey[] = [];
  for (const file of opened) files.push(emptySurvey(await planFile(file, choice, signal)));
  const people = new People();
  for (const survey of files) {
    line.begin(`Reading ${survey.plan.file.path}`);
    for await (const row of survey.plan.file.rows()) {
      signal.throwIfAborted();
      const read = readRow(survey.plan, row, options.consent);
      people.add(read);
      count(survey, read);
      line.show(survey.rows);
    }
    await addMeant(survey, people, { ...options, signal });
  }
  people.settle();
  line.end();
  return { files, people, rows: files.reduce((sum, { rows }) => sum + rows, 0) };
}

/**
 * Of a file without a consent the user's is the consent of its people, so that it is compared with those of the other
 * files: it may be a list of those who left.
 */
async function addMeant(
  survey: FileSurvey,
  people: People,
  { consent, signal }: Pick<ImporterArguments, "consent"> & { signal: AbortSignal },
): Promise<void> {
  if ((consent !== "UNSUBSCRIBED" && consent !== "NON_SUBSCRIBED") || hasConsents(survey)) return;
  for await (const row of survey.plan.file.rows()) {
    signal.throwIfAborted();
    const read = readRow(survey.plan, row, consent);
    const channel = read.cells.has("email") ? "email" : "phone";
    people.add({ ...read, said: { ...read.said, [channel]: { ...read.said[channel], optIn: consent } } });
  }
}

/** Whether a row of the file states a consent, or has a word that is understood. */
export function hasConsents({ plan, words, consents }: FileSurvey): boolean {
  const isStated = [consents.email, consents.phone].some((counts) =>
    optIns.some((optIn) => counts[optIn] > 0),
  );
  // "Mobile: yes" is none.
  const isOfField = (index: number) => plan.columns[index]?.use.kind === "field";
  return (
    isStated ||
    Array.from(words).some(([index, { understood, states }]) =>
      isOfField(index) ? states.UNSUBSCRIBED > 0 : understood > 0,
    )
  );
}

function emptySurvey(plan: FilePlan): FileSurvey {
  const none = () => ({ SUBSCRIBED: 0, NON_SUBSCRIBED: 0, UNSUBSCRIBED: 0 });
  const counts = () => ({ ...none(), unstated: 0, "not understood": 0 });
  const words = new Map<number, WordCounts>(
    plan.columns.map(({ index }) => [
      index,
      {
        understood: 0,
        states: none(),
        notUnderstood: new Map<string, number>(),
        notUnderstoodFurther: 0,
        texts: 0,
      },
    ]),
  );
  const consents = { email: counts(), phone: counts() };
  return { plan, rows: 0, misshapen: 0, isReportOfConsents: false, consents, words, remarks: new Remarks() };
}

function count(survey: FileSurvey, row: ReadRow): void {
  survey.rows += 1;
  if (row.source.isMisshapen) survey.misshapen += 1;
  for (const channel of ["email", "phone"] as const) {
    if (!row.cells.has(channel)) continue;
    const { optIn, notUnderstood } = row.said[channel];
    const isUnclear = row.source.isMisshapen || notUnderstood.length > 0;
    survey.consents[channel][isUnclear ? "not understood" : (optIn ?? "unstated")] += 1;
  }
  for (const { column, text, said } of row.consentCells) {
    const words = survey.words.get(column.index);
    if (words === undefined || consentWord(text) === "nothing") continue;
    if (Object.hasOwn(row.contact.custom_properties ?? {}, column.property)) words.texts += 1;
    if (said === "not understood") {
      const word = text.includes("@") ? anAddress : text;
      if (words.notUnderstood.has(word) || words.notUnderstood.size < mostWords)
        words.notUnderstood.set(word, (words.notUnderstood.get(word) ?? 0) + 1);
      else words.notUnderstoodFurther += 1;
    } else if (!said.isTime) {
      words.understood += 1;
      if (said.optIn) words.states[said.optIn] += 1;
    }
  }
  for (const { use, index } of survey.plan.columns) {
    const text = row.source.cell(index) ?? "";
    if (use.kind === "import note" && isOfFileWithConsents(text)) survey.isReportOfConsents = true;
    const words = survey.words.get(index);
    if (use.kind !== "property" || row.source.isMisshapen || !words || words.isYesOrNo === false) continue;
    const word = consentWord(text);
    if (word !== "nothing") words.isYesOrNo = word === "yes" || word === "no";
  }
  for (const remark of row.remarks) survey.remarks.add(remark, row);
}
