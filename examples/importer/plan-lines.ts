import { counted, inFull, shortened } from "../console/counted.ts";
import { printable, textWidth } from "../console/text-width.ts";
import { quotedWord } from "../exports/contact-values.ts";
import { type Channel, channels, optIns } from "../exports/contact.ts";
import { reasonHeading } from "../exports/csv-file.ts";
import { type Column, type ConsentUse, type FilePlan, shownHeading } from "../exports/file-plan.ts";
import type { PeopleCount } from "../exports/people.ts";
import type { DoubtfulColumn } from "../exports/propose-map.ts";
import { anyDate } from "../exports/words.ts";
import type { ImporterArguments } from "./arguments.ts";
import { issuesInOneLine } from "./rows-to-send.ts";
import type { ConsentCounts, FileSurvey, WordCount } from "./survey.ts";

const channelNames: Readonly<Record<Channel, string>> = { email: "e-mail", phone: "phone" };

/** The plan of a file: its layout, the use of each column with the meaning of its words, and its consents. */
export function planLines(survey: FileSurvey): string[] {
  const { plan, rows, words, doubtful, consents, remarks, onlyMeant, inSpite } = survey;
  const { file, layout, columns, everyone } = plan;
  const states = doubtful.filter(({ isState }) => isState);
  const width = Math.max(
    ...columns.map((column) => Math.min(40, textWidth(printable(shownHeading(column))))),
  );
  const lines = columns.map((column) => {
    const heading = printable(shownHeading(column));
    const becomes = printable(describeUse(column, plan, words.get(column.index)));
    return `  ${heading}${" ".repeat(Math.max(0, width - textWidth(heading)))}  ${becomes}`;
  });
  return [
    `${printable(file.path)}: ${layout}, ${JSON.stringify(file.delimiter)} between the cells, ${file.encoding}, ${counted(rows, "row")}`,
    ...lines,
    ...channels
      .filter((channel) => everyone[channel] !== undefined)
      .map((each) => `  Everyone in it is ${everyone[each]} (${channelNames[each]}), as its map says.`),
    `  E-mail consent: ${describeCounts(consents.email)}`,
    `  Phone consent: ${describeCounts(consents.phone)}`,
    ...subscribedLines(onlyMeant, " only by --consent SUBSCRIBED", doubtful),
    ...subscribedLines(inSpite, "", states),
    ...remarks.all.map(({ title, count, first }) =>
      count === 1
        ? `  ${first[0]}: ${title}.`
        : `  ${counted(count, "row")}, the first is ${first[0]}: ${title}.`,
    ),
  ];
}

function subscribedLines({ size }: PeopleCount, by: string, columns: readonly DoubtfulColumn[]) {
  const names = columns.map(({ name }) => JSON.stringify(printable(name)));
  const although = `, although ${shortened(names, 12).join(", ")} may say something of a consent, and the map takes it for data`;
  const line = `  ${counted(size, "person becomes", "people become")} SUBSCRIBED${by}${names.length === 0 ? "" : although}.`;
  return size === 0 ? [] : [line];
}

function describeCounts(counts: ConsentCounts): string {
  const held = counts["held back"] === undefined ? [] : (["held back"] as const);
  const kinds = [...optIns, "unstated", ...held] as const;
  return kinds.map((kind) => `${inFull(counts[kind]?.size ?? 0)} ${kind}`).join(", ");
}

type WordCounts = ReadonlyMap<string, WordCount>;

function describeUse(column: Column, plan: FilePlan, words: WordCounts = new Map()): string {
  const { use, property, heading } = column;
  const asProperty = `the custom property ${property}`;
  if (typeof use === "object") {
    const names = use.channels.map((channel) => channelNames[channel]).join(" and ");
    return `${names} consent: ${describeWords(use, words)}${words.has(anyDate) ? `; the days are ${asProperty}` : ""}`;
  }
  if (use === "property") return asProperty;
  if (use === "ignore")
    return heading === reasonHeading ? "left out: a report's own column" : "left out: the map says ignore";
  if (use === "is_suppressed") return "is_suppressed, where it is true";
  if (use === "double_opt_in")
    return "double_opt_in, where it is true, and goes with an opt-in to e-mail alone";
  const first = plan.fields.get(use)![0]!;
  if (first === column) return use === "email" ? "email, in lower case" : use;
  return `${use} where ${shownHeading(first)} is blank${use === "phone" ? " or invalid" : ""}; else, where it differs, ${asProperty}`;
}

function describeWords(use: ConsentUse, words: WordCounts): string {
  const named = Array.from(
    words,
    ([word, count]) =>
      `${quotedWord(word)} → ${describeMeaning(use, word, count)} (${inFull(count.people.size)})`,
  );
  return shortened(named, 20).join(", ") || "blank";
}

function describeMeaning({ channels: own }: ConsentUse, word: string, { meanings }: WordCount): string {
  if (meanings === undefined) return "held back, as the map does not name it";
  const all = meanings.flatMap((each) => Object.entries(each));
  const shown = new Set(all.map(([, meaning]) => meaning));
  const name = (meaning: string) =>
    meaning === "none" ? "says nothing" : meaning === "hold" ? "held back" : meaning;
  const named = channels.filter((channel) => all.some(([each]) => each === channel));
  // The days are sent as a custom property.
  const leftOut = word === anyDate ? "says nothing" : "says nothing, left out";
  if (all.every(([, meaning]) => meaning === "none")) return leftOut;
  if (shown.size < 2 && String(named) === String(own)) return name([...shown][0]!);
  return all.map(([channel, meaning = "none"]) => `${channel} ${name(meaning)}`).join(" and ");
}

/** The lines to add to a map, for the words that it does not name. */
export function unnamedLines({ plan, words, mapPath }: FileSurvey): string[] {
  return plan.columns.flatMap((column) => {
    const all = [...(words.get(column.index) ?? [])];
    const unnamed = all.filter(([, { meanings }]) => meanings === undefined);
    if (unnamed.length === 0) return [];
    const lines = unnamed.map(([word]) => `${JSON.stringify(word)}: "hold"`);
    return [
      `Rows are held back, as ${mapPath} does not name a word of ${JSON.stringify(column.name)}. Add to its "words",`,
      "with SUBSCRIBED, NON_SUBSCRIBED, UNSUBSCRIBED or none instead of hold, if you know it:",
      `  ${printable(shortened(lines, 200).join(", "))}`,
    ];
  });
}

/** The reasons not to send anything of a file: what only the user can say, and has not. */
export function stopLines(
  { plan, mapPath, hasConsents, rows: count, unnamed }: FileSurvey,
  { consent, listId }: Pick<ImporterArguments, "consent" | "listId">,
): string[] {
  const { path } = plan.file;
  const rows = unnamed.map(({ number, source, issues }) => {
    const why = issues.length === 0 ? "" : ` (${issuesInOneLine(issues)})`;
    return `  row ${number}: ${printable(source.cells.join(", ") + why)}`;
  });
  const ofUnnamed = [
    `${path}: ${counted(unnamed.length, "row holds", "rows hold")} a refusal, and no readable address, or number without an address:`,
    ...shortened(rows, 5),
    `Whose is it? Correct the row, or write "unnamed": "ignore" in ${mapPath}, if it is nobody's.`,
  ];
  const ofConsent =
    `${path} has no consent.${plan.layout === "Mailchimp" ? " Mailchimp's file names contain it: subscribed_….csv, unsubscribed_….csv." : ""} ` +
    `State it: --consent NON_SUBSCRIBED, UNSUBSCRIBED or SUBSCRIBED${listId === undefined ? "; keep leaves an existing contact's consent as it is" : ""}. ` +
    "It counts for all files. If this is a list of people who left, write " +
    `"everyone": { "${plan.fields.has("email") ? "email" : "phone"}": "UNSUBSCRIBED" } in ${mapPath} instead.`;
  return [
    ...(unnamed.length === 0 ? [] : ofUnnamed),
    ...(consent === undefined && !hasConsents && count > 0 ? [ofConsent] : []),
  ];
}
