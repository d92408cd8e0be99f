import { counted } from "../console/counted.ts";
import { printable } from "../console/text-width.ts";
import { type Channel, channels, type OptIn } from "../exports/contact.ts";
import type { DoubtfulColumn } from "../exports/propose-map.ts";
import type { ImporterArguments } from "./arguments.ts";
import { type FailedRows, Groups, placeOf } from "./failed-rows.ts";
import { reasonIn, type RowToSend, rowsToSend } from "./rows-to-send.ts";
import type { FileSurvey, Survey } from "./survey.ts";

/** The number of rows with each consent of a channel; `unstated` rows have none. */
export type ConsentCounts = Record<OptIn | "unstated" | "held back", number>;

const noCounts = () => ({ SUBSCRIBED: 0, NON_SUBSCRIBED: 0, UNSUBSCRIBED: 0, unstated: 0, "held back": 0 });

/** What would be sent of one file. */
export class FileCheck {
  readonly file: FileSurvey;
  readonly consents: Readonly<Record<Channel, ConsentCounts>> = { email: noCounts(), phone: noCounts() };
  /** Remarks on many rows, each once. */
  readonly remarks = new Groups();
  /** Who becomes SUBSCRIBED only by `--consent SUBSCRIBED`. */
  readonly onlyMeant = new Set<string>();
  /** Who becomes SUBSCRIBED, and has a cell in a column that looks like a state and is taken for data. */
  readonly inSpite = new Set<string>();

  constructor(file: FileSurvey) {
    this.file = file;
  }

  add({ contact, issues, remarks, isOnlyMeant, row }: RowToSend): void {
    for (const remark of remarks) this.remarks.add(remark, placeOf(row));
    for (const channel of channels) {
      if (!row.cells.has(channel)) continue;
      const state = contact[channel] === undefined ? undefined : contact[`${channel}_opt_in`];
      this.consents[channel][issues.length > 0 ? "held back" : (state ?? "unstated")] += 1;
    }
    if (issues.length > 0) return;
    const name = contact.email ?? contact.phone ?? "";
    const isSubscribed = [contact.email_opt_in, contact.phone_opt_in].includes("SUBSCRIBED");
    if (isOnlyMeant) this.onlyMeant.add(name);
    else if (isSubscribed && this.file.doubtful.some(isOf(row))) this.inSpite.add(name);
  }

  /** The columns that may be about a consent, and are taken for data: "Status", "Stufe". */
  doubtful(isChosen: (column: DoubtfulColumn) => boolean = () => true): string {
    const names = this.file.doubtful.filter(isChosen).map(({ name }) => JSON.stringify(printable(name)));
    return names.join(", ");
  }
}

const isOf =
  ({ source }: RowToSend["row"]) =>
  ({ index, isState }: DoubtfulColumn) =>
    isState && source.cell(index) !== undefined;

/** What would be sent of all files. */
export interface Check {
  readonly files: readonly FileCheck[];
  /** The number of rows that can be sent. */
  readonly valid: number;
  /** Those of them that leave a consent to the service. */
  readonly unstated: number;
}

/** Checks each row as it would be sent. Sends nothing. */
export async function checkAll(
  survey: Survey,
  options: ImporterArguments,
  { failed, signal }: { failed: FailedRows; signal: AbortSignal },
): Promise<Check> {
  const files = new Map(survey.files.map((file) => [file, new FileCheck(file)]));
  let [valid, unstated] = [0, 0];
  for await (const row of rowsToSend(survey, options)) {
    signal.throwIfAborted();
    files.get(row.file)!.add(row);
    if (row.issues.length > 0) {
      await failed.add(row, reasonIn(row));
      continue;
    }
    valid += 1;
    const isUnstated = (channel: Channel) =>
      row.contact[channel] !== undefined && row.contact[`${channel}_opt_in`] === undefined;
    if (channels.some(isUnstated)) unstated += 1;
  }
  return { files: [...files.values()], valid, unstated };
}

/** The reasons not to send anything: what only the user can say, and has not. */
export function stopsOf({ files }: Survey, { consent }: Pick<ImporterArguments, "consent">): string[] {
  return files.flatMap(({ plan, mapPath, hasConsents, unnamed }) => {
    const { path } = plan.file;
    const rows = unnamed
      .slice(0, 5)
      .map(({ number, source }) => `  row ${number}: ${printable(source.cells.join(", "))}`);
    const ofUnnamed = [
      `${path}: ${counted(unnamed.length, "row holds", "rows hold")} a refusal, and no address or number that can be read:`,
      ...rows,
      ...(unnamed.length > rows.length ? [`  … and ${unnamed.length - rows.length} more`] : []),
      `Whose is it? Correct the row, or write "unnamed": "ignore" in ${mapPath}, if it is nobody's.`,
    ];
    const ofConsent =
      `${path} has no consent.${plan.layout.startsWith("Mailchimp") ? " Mailchimp's file names contain it: subscribed_….csv, unsubscribed_….csv." : ""} ` +
      "State it: --consent keep leaves an existing contact's consent as it is; or NON_SUBSCRIBED, UNSUBSCRIBED, SUBSCRIBED. " +
      "It counts for all files. If this is a list of people who left, write " +
      `"everyone": { "email": "UNSUBSCRIBED" } in ${mapPath} instead.`;
    return [
      ...(unnamed.length === 0 ? [] : ofUnnamed),
      ...(consent === undefined && !hasConsents ? [ofConsent] : []),
    ];
  });
}

/** The people who would become SUBSCRIBED by no word that the map names as one, as the plan tells. */
export function doubtfulOf({ files }: Check): { people: number; needsAnswer: boolean } {
  return {
    people: files.reduce((sum, { onlyMeant, inSpite }) => sum + onlyMeant.size + inSpite.size, 0),
    // In spite of a column that may say something of it.
    needsAnswer: files.some(({ file, onlyMeant }) => onlyMeant.size > 0 && file.doubtful.length > 0),
  };
}
