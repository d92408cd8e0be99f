import { shownHeading } from "../exports/file-plan.ts";
import type { ImporterArguments } from "./arguments.ts";
import { anAddress, type FileSurvey, hasConsents, type Survey } from "./survey.ts";

/** The reasons not to send anything: consents that the user must state. */
export function findBlockers({ files }: Survey, { consent }: Pick<ImporterArguments, "consent">): string[] {
  if (consent === "SUBSCRIBED" || consent === "keep") return files.filter(isUnclearByName).map(refusalByName);
  if (consent !== undefined) return [];
  return files.flatMap((file) => {
    const columns = notUnderstood(file);
    if (columns.length > 0) return columns;
    // Misshapen lines are not sent, whatever they say.
    if (hasConsents(file) || file.isReportOfConsents || file.rows === file.misshapen) return [];
    const { file: csv, layout } = file.plan;
    const name =
      layout.provider === "mailchimp"
        ? " Mailchimp's file names contain it: subscribed_….csv, unsubscribed_….csv."
        : "";
    return [
      `${csv.path} has no consent.${name} State it: --consent keep leaves an existing contact's ` +
        "consent as it is; or NON_SUBSCRIBED, UNSUBSCRIBED, SUBSCRIBED.",
    ];
  });
}

function isUnclearByName(file: FileSurvey): boolean {
  return file.plan.section === "unclear" && !hasConsents(file);
}

function refusalByName({ plan }: FileSurvey): string {
  return (
    `${plan.file.path}: its name does not say whether the people in it have left. Rename it to unsubscribed.csv if ` +
    "they have, and import it together with the other files; otherwise give it another name."
  );
}

/** Columns that look like a consent, without a known word. */
function notUnderstood({ plan, words }: FileSurvey): string[] {
  return plan.columns.flatMap((column) => {
    const counts = words.get(column.index);
    if (counts === undefined || counts.understood > 0 || counts.notUnderstood.size === 0) return [];
    const looks = `${plan.file.path}: ${shownHeading(column)} looks like a consent`;
    if (counts.notUnderstood.has(anAddress))
      return [`${looks}, and holds e-mail addresses. Leave it out with --without ${shownHeading(column)}.`];
    const examples = Array.from(counts.notUnderstood.keys(), (word) => JSON.stringify(word)).join(", ");
    const mayBeOther = column.use.kind === "consent" && column.use.consent.question === "other";
    return [
      `${looks}${mayBeOther ? " to another matter" : ""}, and its words are not understood: ${examples}. ` +
        (mayBeOther
          ? 'Name it after its channel ("Newsletter", "SMS opt-in") if it is about one'
          : "Write subscribed, unsubscribed or not subscribed instead") +
        "; or leave the column out with --without, and state the consent with --consent.",
    ];
  });
}
