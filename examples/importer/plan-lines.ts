import { counted, inFull } from "../console/counted.ts";
import { printable, textWidth } from "../console/text-width.ts";
import type { ConsentColumn, ConsentQuestion } from "../exports/consent-columns.ts";
import { type Channel, optIns } from "../exports/contact.ts";
import { type Column, type ColumnUse, type FilePlan, shownHeading } from "../exports/file-plan.ts";
import { isEvidence } from "../exports/row-evidence.ts";
import type { ImporterArguments } from "./arguments.ts";
import type { ConsentCounts, FileSurvey, WordCounts } from "./survey.ts";

const channelNames: Readonly<Record<Channel, string>> = { email: "e-mail", phone: "phone" };

/** The plan of a file: its layout, the use of each column, and its consents. */
export function planLines(
  survey: FileSurvey,
  { family, consent }: Pick<ImporterArguments, "family" | "consent">,
): string[] {
  const { plan, rows, words, consents, remarks } = survey;
  const { file, layout, columns, section } = plan;
  const width = Math.max(
    ...columns.map((column) => Math.min(40, textWidth(printable(shownHeading(column))))),
  );
  const lines = columns.map((column) => {
    const heading = printable(shownHeading(column));
    const becomes = printable(describeUse(column, plan, words.get(column.index), family));
    return `  ${heading}${" ".repeat(Math.max(0, width - textWidth(heading)))}  ${becomes}`;
  });
  // No reason to stop: most such columns are plain properties, and whoever is stopped by each leaves out all of them.
  const ofYesOrNo = columns.filter(({ index }) => words.get(index)?.isYesOrNo).map(shownHeading);
  const properties = columns.filter(({ use }) => use.kind === "property").length;
  return [
    `${printable(file.path)}: ${layout.name}, ${file.delimiterName}, ${file.encoding}, ${counted(rows, "row")}`,
    ...lines,
    ...(section === undefined || section === "unclear"
      ? []
      : [
          `  By the file's name, everyone in it is ${section.optIn}${section.channels?.every((channel) => channel === "phone") ? ", for the phone" : ""}.`,
        ]),
    ...(family === "v1" && properties > 30
      ? [
          `  ${properties} columns are custom properties, and the service accepts 30 per row: leave some out with --without.`,
        ]
      : []),
    `  E-mail consent: ${describeCounts(consents.email, consent)}`,
    `  Phone consent: ${describeCounts(consents.phone, consent)}`,
    ...(ofYesOrNo.length === 0
      ? []
      : [
          `  Looks like yes or no: ${printable(ofYesOrNo.join(", "))}. Is one a consent? Then give it a heading that says so, as "Newsletter" or "Unsubscribed".`,
        ]),
    ...remarks.lines().map((line) => `  ${line}`),
  ];
}

function describeCounts(counts: ConsentCounts, consent: ImporterArguments["consent"]): string {
  const isSent = consent !== undefined && consent !== "SUBSCRIBED";
  const states = optIns.map((optIn) => `${inFull(counts[optIn])} ${optIn}`);
  const notUnderstood = counts["not understood"];
  return [
    ...states,
    `${inFull(counts.unstated)} unstated`,
    ...(notUnderstood === 0
      ? []
      : [`${inFull(notUnderstood)} not understood${isSent ? "" : " (only an opt-out is sent)"}`]),
  ].join(", ");
}

const notInV2: ReadonlySet<string> = new Set(["external_id", "address1", "address2", "source"]);

function describeUse(
  column: Column,
  { columns: all, layout: { provider } }: FilePlan,
  words: WordCounts | undefined,
  family: "v1" | "v2",
): string {
  const { use, property } = column;
  const asProperty =
    family === "v1" ? `the custom property ${property}` : "left out, as v2 has no custom properties";
  switch (use.kind) {
    case "field": {
      if (family === "v2" && notInV2.has(use.field)) return "left out, as v2 has no such field";
      const field = use.field === "email" ? "email, in lower case" : use.field;
      const asConsent =
        words === undefined || words.understood === 0
          ? ""
          : `; words in it are ${channelNames[use.field === "email" ? "email" : "phone"]} consent: ${describeWords(words)}${questions["refusal only"]}`;
      if (!use.isFurther) return field + asConsent;
      const first = all.find(
        (one) => one.use.kind === "field" && one.use.field === use.field && !one.use.isFurther,
      );
      return `${use.field} where ${first ? shownHeading(first) : "the first"} is blank${use.field === "phone" ? " or invalid" : ""}; else, where it differs, ${asProperty}${asConsent}`;
    }
    case "consent":
      return `${describeConsent(use.consent, words)}${describeTexts(words, asProperty)}`;
    case "evidence":
      return family === "v2" ? `the consent's ${use.of}` : asProperty;
    case "property":
      return family === "v2" && isEvidence(column, provider) ? "evidence of the consent" : asProperty;
    case "import note":
      return "the row's consent in an earlier import";
    case "left out":
      return `left out: ${use.why}${describeOwn(use.own, words)}`;
    default:
      return use satisfies never;
  }
}

function describeOwn(own: ColumnUse | undefined, words: WordCounts | undefined): string {
  if (own?.kind === "consent") return `; its opt-outs still count (${describeWords(words)})`;
  const isIdentifier = own?.kind === "field" && (own.field === "email" || own.field === "phone");
  return isIdentifier ? "; it still identifies a person" : "";
}

const questions: Readonly<Record<ConsentQuestion, string>> = {
  "opt-in": "",
  status: "; a yes is not understood",
  "opt-out": "; a no is ignored",
  left: "; any text is an opt-out",
  "not subscribed": "; a no is ignored",
  undeliverable: "; a no is ignored",
  complaint: "; a no is ignored",
  "refusal only": "; a yes is no opt-in",
  confirmation: "; a yes is no opt-in",
  confirmed: "",
  "permission status": "",
  state: "; a yes or a no is not understood",
  other: "; it may be about another matter, so only refusals are understood",
};

function describeConsent({ channels, question }: ConsentColumn, words: WordCounts | undefined): string {
  const names = channels.map((channel) => channelNames[channel]).join(" and ");
  return `${names} consent: ${describeWords(words)}${questions[question]}`;
}

/** The time and reason of a consent. */
function describeTexts(words: WordCounts | undefined, asProperty: string): string {
  return words === undefined || words.texts === 0
    ? ""
    : `; ${inFull(words.texts)} with more text, which is ${asProperty}`;
}

function describeWords(words: WordCounts | undefined): string {
  if (words === undefined) return "blank";
  const states = optIns
    .filter((optIn) => words.states[optIn] > 0)
    .map((optIn) => `${inFull(words.states[optIn])} ${optIn}`);
  const silent = words.understood - optIns.reduce((sum, optIn) => sum + words.states[optIn], 0);
  const unknown = Array.from(words.notUnderstood, ([word, count]) => `${JSON.stringify(word)} (${count})`);
  const further = words.notUnderstoodFurther;
  if (further > 0) unknown.push(`and ${inFull(further)} more`);
  const parts = [
    ...states,
    ...(silent === 0 ? [] : [`${inFull(silent)} ignored`]),
    ...(unknown.length === 0 ? [] : [`not understood: ${unknown.join(", ")}`]),
  ];
  if (parts.length === 0) return words.texts === 0 ? "blank" : "none";
  return parts.join(", ");
}
