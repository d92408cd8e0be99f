import { type Channel, channels, type OptIn } from "../exports/contact.ts";
import { type FilePlan, planFile } from "../exports/file-plan.ts";
import { People, PeopleCount } from "../exports/people.ts";
import { type DoubtfulColumn, doubtfulColumns } from "../exports/propose-map.ts";
import { type ReadRow, readRow } from "../exports/read-row.ts";
import { type ConsentCell, joined, noWords, valueOf } from "../exports/row-words.ts";
import { anyDate, isMoment } from "../exports/words.ts";
import type { ImporterArguments } from "./arguments.ts";
import type { MappedFile } from "./maps.ts";
import { Groups, placeOf, readRefusals } from "./report.ts";
import type { RowToSend } from "./rows-to-send.ts";

/** A word of a column of consent, and how many people have it. Without meanings it is one that the map does not name. */
export type WordCount = Pick<ConsentCell, "meanings"> & { readonly people: PeopleCount };

/** The people with each consent of a channel; `unstated` people have none. */
export type ConsentCounts = Partial<Record<OptIn | "unstated" | "held back", PeopleCount>>;

/** The survey of one file, and what would be sent of it. */
export class FileSurvey {
  readonly plan: FilePlan;
  readonly mapPath: string;
  readonly doubtful: readonly DoubtfulColumn[];
  rows = 0;
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
  readonly onlyMeant = new PeopleCount();
  /** Who becomes SUBSCRIBED, and has a cell in a column that looks like a state and is taken for data. */
  readonly inSpite = new PeopleCount();

  constructor({ file, map, mapPath, cells }: MappedFile) {
    this.plan = planFile(file, map);
    this.mapPath = mapPath;
    this.doubtful = doubtfulColumns(file, map, cells);
  }

  /** Counts a row as it is read. */
  read(row: ReadRow): void {
    this.rows += 1;
    if (row.isUnnamedRefusal) this.unnamed.push(row);
  }

  /** Counts a row as it would be sent, here and over all files. */
  check(toSend: RowToSend, { people, toSend: all }: Survey): void {
    const { contact, issues, refusals, notes, isOnlyMeant, row } = toSend;
    const person = people.sharedPersonOf(row);
    for (const { remark } of notes) this.remarks.add(remark, placeOf(row));
    if (row.words.email >= 1 || row.words.phone >= 1) this.hasConsents = true;
    for (const { column, word, meanings } of row.consentCells) {
      // A word that the map does not name, or holds back, may be one.
      if (meanings?.every((each) => Object.values(each).every((meaning) => meaning === "none")) !== true)
        this.hasConsents = true;
      const own = this.words.get(column.index) ?? new Map<string, WordCount>();
      const shown = isMoment(word) ? anyDate : word;
      const known = own.get(shown) ?? { meanings, people: new PeopleCount() };
      known.people.add(person);
      this.words.set(column.index, own.set(shown, known));
    }
    for (const channel of channels) {
      // A refusal is sent also without the number that it is about.
      const state = contact[`${channel}_opt_in`];
      const isSent = issues.length === 0;
      if (state === undefined && !(isSent ? contact[channel] : row.cells.has(channel))) continue;
      const kind = isSent ? (state ?? "unstated") : "held back";
      (this.consents[channel][kind] ??= new PeopleCount()).add(person);
    }
    if (issues.length > 0) {
      if (refusals) all.optOuts += 1;
      return;
    }
    all.rows += 1;
    all.people.add(person);
    if (channels.some((each) => contact[each] !== undefined && !contact[`${each}_opt_in`])) all.unstated += 1;
    const isSubscribed = [contact.email_opt_in, contact.phone_opt_in].includes("SUBSCRIBED");
    const hasState = ({ index, isState }: DoubtfulColumn) => isState && row.source.cell(index) !== undefined;
    if (isOnlyMeant) this.onlyMeant.add(person);
    else if (isSubscribed && this.doubtful.some(hasState)) this.inSpite.add(person);
  }
}

/** What would be sent of all files. */
class ToSend {
  /** The rows that can be sent. */
  rows = 0;
  readonly people = new PeopleCount();
  /** Those rows that leave a consent to the service. */
  unstated = 0;
  /** The other rows whose opt-outs are sent. */
  optOuts = 0;
}

/** The survey of all files, read before anything is sent. It keeps only the consents of the rows. */
export interface Survey {
  readonly files: readonly FileSurvey[];
  readonly people: People;
  readonly rows: number;
  readonly toSend: ToSend;
}

/** Reads the files to their end. */
export async function surveyFiles(
  mapped: readonly MappedFile[],
  { signal, consent }: { signal: AbortSignal; consent?: ImporterArguments["consent"] },
): Promise<Survey> {
  const people = new People();
  const files = mapped.map((file) => new FileSurvey(file));
  for (const survey of files) {
    const earlier = await readRefusals(survey.plan.file);
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
  return { files, people, rows: files.reduce((sum, { rows }) => sum + rows, 0), toSend: new ToSend() };
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
