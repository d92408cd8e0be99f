import type { ImporterArguments } from "./arguments.ts";
import { hasConsents, type Survey } from "./survey.ts";

/** The reasons not to send anything: files without any consent, which the user must state. */
export function findBlockers({ files }: Survey, { consent }: Pick<ImporterArguments, "consent">): string[] {
  if (consent !== undefined) return [];
  return files.flatMap((file) => {
    // Misshapen lines are not sent, whatever they say.
    if (hasConsents(file) || file.isReportOfConsents || file.rows === file.misshapen) return [];
    const { file: csv, layout } = file.plan;
    const name = layout.startsWith("Mailchimp")
      ? " Mailchimp's file names contain it: subscribed_….csv, unsubscribed_….csv."
      : "";
    return [
      `${csv.path} has no consent.${name} State it: --consent keep leaves an existing contact's ` +
        "consent as it is; or NON_SUBSCRIBED, UNSUBSCRIBED, SUBSCRIBED. It counts for all files. If this is a list of " +
        `people who left, write "everyone": { "email": "UNSUBSCRIBED" } in ${file.mapPath} instead.`,
    ];
  });
}
