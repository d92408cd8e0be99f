import { counted } from "../console/counted.ts";
import { printable } from "../console/text-width.ts";
import { type Channel, channels } from "../exports/contact.ts";
import { issuesInOneLine } from "../exports/row-issues.ts";
import type { ImporterArguments } from "./arguments.ts";
import type { FailedRows } from "./failed-rows.ts";
import { reasonIn, rowsToSend } from "./rows-to-send.ts";
import type { Survey } from "./survey.ts";

/** What would be sent of all files. */
export interface Check {
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
  let [valid, unstated] = [0, 0];
  for await (const row of rowsToSend(survey, options)) {
    signal.throwIfAborted();
    row.file.check(row);
    if (row.issues.length > 0) {
      await failed.add(row, reasonIn(row));
      continue;
    }
    valid += 1;
    const isUnstated = (channel: Channel) =>
      row.contact[channel] !== undefined && row.contact[`${channel}_opt_in`] === undefined;
    if (channels.some(isUnstated)) unstated += 1;
  }
  return { valid, unstated };
}

/** The reasons not to send anything: what only the user can say, and has not. */
export function stopsOf({ files }: Survey, { consent }: Pick<ImporterArguments, "consent">): string[] {
  return files.flatMap(({ plan, mapPath, hasConsents, unnamed }) => {
    const { path } = plan.file;
    const rows = unnamed
      .slice(0, 5)
      .map(
        ({ number, source, issues }) =>
          `  row ${number}: ${printable(source.cells.join(", "))} (${printable(issuesInOneLine(issues))})`,
      );
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
export function doubtfulOf({ files }: Survey): { people: number; needsAnswer: boolean } {
  return {
    people: files.reduce((sum, { onlyMeant, inSpite }) => sum + onlyMeant.size + inSpite.size, 0),
    // In spite of a column that may say something of it.
    needsAnswer: files.some(({ doubtful, onlyMeant }) => onlyMeant.size > 0 && doubtful.length > 0),
  };
}
