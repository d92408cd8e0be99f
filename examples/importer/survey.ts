import { anyDate } from "../exports/column-cells.ts";
import type { Meaning } from "../exports/column-map.ts";
import { type Channel, type OptIn, optIns } from "../exports/contact.ts";
import { type FilePlan, planFile } from "../exports/file-plan.ts";
import { People } from "../exports/people.ts";
import { type ReadRow, readRow } from "../exports/read-row.ts";
import { isOfFileWithConsents } from "../exports/report-note.ts";
import { isBlank, isMoment } from "../exports/words.ts";
import type { ImporterArguments } from "./arguments.ts";
import type { MappedFile } from "./maps.ts";
import type { ReadingLine } from "./reading-line.ts";
import { addRefusals } from "./refused-people.ts";
import { Remarks } from "./remarks.ts";

/** The number of rows with each consent of a channel; `unstated` rows have none. */
export type ConsentCounts = Record<OptIn | "unstated" | "held back", number>;

/** A word of a column of consent: its meaning, and how many rows have it. */
export interface WordCount {
  readonly meaning: Meaning | undefined;
  rows: number;
}

/** The words of a column: the first few, and how many rows have another one. */
export interface WordCounts {
  readonly words: Map<string, WordCount>;
  further: number;
}

/** The survey of one file. */
export interface FileSurvey {
  readonly plan: FilePlan;
  readonly mapPath: string;
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

const mostWords = 20;
// Those are shown, to be added to the map.
const mostUnnamed = 200;

/** Reads the files to their end. */
export async function surveyFiles(
  mapped: readonly MappedFile[],
  { line, signal, consent }: { line: ReadingLine; signal: AbortSignal } & Pick<ImporterArguments, "consent">,
): Promise<Survey> {
  const files = mapped.map(({ file, map, mapPath }) => emptySurvey(planFile(file, map), mapPath));
  const people = new People();
  for (const survey of files) {
    line.begin(`Reading ${survey.plan.file.path}`);
    for await (const row of survey.plan.file.rows()) {
      signal.throwIfAborted();
      const read = readRow(survey.plan, row);
      people.add(read);
      count(survey, read);
      line.show(survey.rows);
    }
    await addMeant(survey, people, { consent, signal });
    await addRefusals(survey.plan.file.path, people);
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
    const read = readRow(survey.plan, row);
    const channel = read.cells.has("email") ? "email" : "phone";
    people.add({ ...read, said: { ...read.said, [channel]: { ...read.said[channel], optIn: consent } } });
  }
}

/** Whether the file says anything of a consent. */
export function hasConsents({ plan, words, consents }: FileSurvey): boolean {
  const isStated = [consents.email, consents.phone].some((counts) =>
    optIns.some((optIn) => counts[optIn] > 0),
  );
  const saysNothing = (index: number) => {
    const { use } = plan.columns[index]!;
    return use.kind === "consent" && [...use.consent.words.values()].every((meaning) => meaning === "none");
  };
  return isStated || Array.from(words).some(([index, own]) => own.words.size > 0 && !saysNothing(index));
}

function emptySurvey(plan: FilePlan, mapPath: string): FileSurvey {
  const counts = () => ({ SUBSCRIBED: 0, NON_SUBSCRIBED: 0, UNSUBSCRIBED: 0, unstated: 0, "held back": 0 });
  const words = new Map<number, WordCounts>(
    plan.columns.flatMap(({ index, use }) =>
      use.kind === "consent" ? [[index, { words: new Map<string, WordCount>(), further: 0 }]] : [],
    ),
  );
  const consents = { email: counts(), phone: counts() };
  return {
    plan,
    mapPath,
    rows: 0,
    misshapen: 0,
    isReportOfConsents: false,
    consents,
    words,
    remarks: new Remarks(),
  };
}

function count(survey: FileSurvey, row: ReadRow): void {
  survey.rows += 1;
  if (row.source.isMisshapen) survey.misshapen += 1;
  for (const channel of ["email", "phone"] as const) {
    if (!row.cells.has(channel)) continue;
    const { optIn, notUnderstood } = row.said[channel];
    const isHeld = row.source.isMisshapen || notUnderstood.length > 0;
    survey.consents[channel][isHeld ? "held back" : (optIn ?? "unstated")] += 1;
  }
  for (const { column, word, meaning } of row.consentCells) {
    // Safe: the survey has an entry for each column of consent.
    const own = survey.words.get(column.index)!;
    if (isBlank(word)) continue;
    const shown = isMoment(word) ? anyDate : word;
    const known = own.words.get(shown);
    if (known !== undefined) known.rows += 1;
    else if (own.words.size < (meaning === undefined ? mostUnnamed : mostWords))
      own.words.set(shown, { meaning, rows: 1 });
    else own.further += 1;
  }
  for (const { use, index } of survey.plan.columns)
    if (use.kind === "import note" && isOfFileWithConsents(row.source.cell(index) ?? ""))
      survey.isReportOfConsents = true;
  for (const remark of row.remarks) survey.remarks.add(remark, row);
}
