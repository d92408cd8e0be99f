import type { ChannelMeanings } from "../exports/column-map.ts";
import { type Channel, channels, type OptIn } from "../exports/contact.ts";
import { type FilePlan, planFile } from "../exports/file-plan.ts";
import { People } from "../exports/people.ts";
import { type DoubtfulColumn, doubtfulColumns } from "../exports/propose-map.ts";
import { type ReadRow, readRow } from "../exports/read-row.ts";
import { joined, noWords, valueOf } from "../exports/row-words.ts";
import { anyDate, isBlank, isMoment } from "../exports/words.ts";
import type { ImporterArguments } from "./arguments.ts";
import type { MappedFile } from "./maps.ts";
import { Groups, placeOf, readRefusals } from "./report.ts";
import type { RowToSend } from "./rows-to-send.ts";

/** A word of a column of consent: its meanings, and how many rows have it. */
export interface WordCount {
  /** Undefined for a word that the map does not name. */
  readonly meanings: readonly ChannelMeanings[] | undefined;
  readonly rows: number;
}

/** The number of rows with each consent of a channel; `unstated` rows have none. */
export type ConsentCounts = Partial<Record<OptIn | "unstated" | "held back", number>>;

/** The survey of one file, and what would be sent of it. */
export class FileSurvey {
  readonly plan: FilePlan;
  readonly mapPath: string;
  /** The columns that are taken for data, and that may be about a consent. */
  readonly doubtful: readonly DoubtfulColumn[];
  rows = 0;
  /** The number of rows that can be sent. */
  valid = 0;
  /** Those of them that leave a consent to the service. */
  unstated = 0;
  /** Whether it says anything of a consent, or is the report of a file that does. */
  hasConsents = false;
  /** The words of each column of consent. */
  readonly words = new Map<number, Map<string, WordCount>>();
  /** The rows with a refusal that names nobody. */
  unnamed: ReadRow[] = [];
  readonly consents: Readonly<Record<Channel, ConsentCounts>> = { email: {}, phone: {} };
  /** Remarks on many rows, each once. */
  readonly remarks = new Groups();
  /** Who becomes SUBSCRIBED only by `--consent SUBSCRIBED`. */
  readonly onlyMeant = new Set<string>();
  /** Who becomes SUBSCRIBED, and has a cell in a column that looks like a state and is taken for data. */
  readonly inSpite = new Set<string>();

  constructor({ file, map, mapPath, cells }: MappedFile) {
    this.plan = planFile(file, map);
    this.mapPath = mapPath;
    this.doubtful = doubtfulColumns(file, map, cells);
  }

  /** Counts a row as it is read. */
  read(row: ReadRow): void {
    this.rows += 1;
    if (row.isUnnamedRefusal) this.unnamed.push(row);
    if (row.words.email >= 1 || row.words.phone >= 1) this.hasConsents = true;
    for (const { column, word, meanings } of row.consentCells) {
      if (isBlank(word)) continue;
      // A word that the map does not name, or holds back, may be one.
      if (meanings?.every((each) => Object.values(each).every((meaning) => meaning === "none")) !== true)
        this.hasConsents = true;
      const own = this.words.get(column.index) ?? new Map<string, WordCount>();
      this.words.set(column.index, own);
      const shown = isMoment(word) ? anyDate : word;
      own.set(shown, { meanings, rows: (own.get(shown)?.rows ?? 0) + 1 });
    }
  }

  /** Counts a row as it would be sent. */
  check({ contact, issues, notes, isOnlyMeant, row }: RowToSend): void {
    for (const { remark } of notes) this.remarks.add(remark, placeOf(row));
    for (const channel of channels) {
      // A refusal is sent also without the number that it is about.
      const state = contact[`${channel}_opt_in`];
      if (state === undefined && !row.cells.has(channel)) continue;
      const kind = issues.length > 0 ? "held back" : (state ?? "unstated");
      this.consents[channel][kind] = (this.consents[channel][kind] ?? 0) + 1;
    }
    if (issues.length > 0) return;
    this.valid += 1;
    if (channels.some((each) => contact[each] !== undefined && !contact[`${each}_opt_in`]))
      this.unstated += 1;
    const name = contact.email ?? contact.phone ?? "";
    const isSubscribed = [contact.email_opt_in, contact.phone_opt_in].includes("SUBSCRIBED");
    const hasState = ({ index, isState }: DoubtfulColumn) => isState && row.source.cell(index) !== undefined;
    if (isOnlyMeant) this.onlyMeant.add(name);
    else if (isSubscribed && this.doubtful.some(hasState)) this.inSpite.add(name);
  }
}

/** The survey of all files, read before anything is sent. It keeps only the consents of the rows. */
export interface Survey {
  readonly files: readonly FileSurvey[];
  readonly people: People;
  readonly rows: number;
}

/** Reads the files to their end. */
export async function surveyFiles(
  mapped: readonly MappedFile[],
  { signal, consent }: { signal: AbortSignal; consent?: ImporterArguments["consent"] },
): Promise<Survey> {
  const people = new People();
  const files = mapped.map((file) => new FileSurvey(file));
  for (const survey of files) {
    const earlier = await readRefusals(survey.plan.file.path);
    survey.hasConsents = earlier?.hasConsents ?? false;
    people.addEarlier(earlier?.people ?? {});
  }
  for (const survey of files) {
    const meant = meantIn(survey.plan, consent);
    for await (const row of survey.plan.file.rows()) {
      signal.throwIfAborted();
      const read = readRow(survey.plan, row);
      const channel = read.cells.has("email") ? "email" : "phone";
      people.add({ ...read, words: joined(read.words, { ...noWords, [channel]: meant }) });
      survey.read(read);
    }
  }
  people.settle();
  for (const [index, survey] of files.entries())
    survey.unnamed =
      mapped[index]!.map.unnamed === "ignore" ? [] : survey.unnamed.filter((row) => !people.hasOneOf(row));
  return { files, people, rows: files.reduce((sum, { rows }) => sum + rows, 0) };
}

/**
 * The user's consent for a file that cannot have one, as a word about its people: it may be a list of those who left, of
 * whom another file says something better.
 */
function meantIn({ everyone, columns }: FilePlan, consent: ImporterArguments["consent"]): number {
  const isMeant = consent === "UNSUBSCRIBED" || consent === "NON_SUBSCRIBED";
  const hasOwn =
    (everyone.email ?? everyone.phone) !== undefined || columns.some(({ use }) => typeof use === "object");
  return isMeant && !hasOwn ? valueOf(consent) : 0;
}
