import { counted, inFull } from "../console/counted.ts";
import { printable, textWidth } from "../console/text-width.ts";
import { type Channel, optIns } from "../exports/contact.ts";
import { type Column, type FilePlan, shownHeading } from "../exports/file-plan.ts";
import { isEvidence, ownEvidence } from "../exports/row-evidence.ts";
import type { ImporterArguments } from "./arguments.ts";
import type { ConsentCounts, FileSurvey, WordCounts } from "./survey.ts";

const channelNames: Readonly<Record<Channel, string>> = { email: "e-mail", phone: "phone" };

/** The plan of a file: its layout, the use of each column with the meaning of its words, and its consents. */
export function planLines(survey: FileSurvey, { family }: Pick<ImporterArguments, "family">): string[] {
  const { plan, rows, words, consents, remarks } = survey;
  const { file, layout, columns, everyone } = plan;
  const width = Math.max(
    ...columns.map((column) => Math.min(40, textWidth(printable(shownHeading(column))))),
  );
  const lines = columns.map((column) => {
    const heading = printable(shownHeading(column));
    const becomes = printable(describeUse(column, plan, words.get(column.index), family));
    return `  ${heading}${" ".repeat(Math.max(0, width - textWidth(heading)))}  ${becomes}`;
  });
  const properties = columns.filter(({ use }) => use.kind === "property").length;
  return [
    `${printable(file.path)}: ${layout}, ${file.delimiterName}, ${file.encoding}, ${counted(rows, "row")}`,
    ...lines,
    ...(["email", "phone"] as const).flatMap((channel) =>
      everyone?.[channel] === undefined
        ? []
        : [`  Everyone in it is ${everyone[channel]} (${channelNames[channel]}), as its map says.`],
    ),
    ...(family === "v1" && properties > 30
      ? [
          `  ${properties} columns are custom properties, and the service accepts 30 per row: write "ignore" for some in the map.`,
        ]
      : []),
    `  E-mail consent: ${describeCounts(consents.email)}`,
    `  Phone consent: ${describeCounts(consents.phone)}`,
    ...(consents.email.NON_SUBSCRIBED + consents.phone.NON_SUBSCRIBED === 0
      ? []
      : ["  NON_SUBSCRIBED also replaces an UNSUBSCRIBED that the service has."]),
    ...remarks.lines().map((line) => `  ${line}`),
  ];
}

function describeCounts(counts: ConsentCounts): string {
  const states = optIns.map((optIn) => `${inFull(counts[optIn])} ${optIn}`);
  const held = counts["held back"];
  return [
    ...states,
    `${inFull(counts.unstated)} unstated`,
    ...(held === 0 ? [] : [`${inFull(held)} held back`]),
  ].join(", ");
}

const notInV2: ReadonlySet<string> = new Set(["external_id", "address1", "address2", "source"]);

function describeUse(
  column: Column,
  { columns: all, provider }: FilePlan,
  words: WordCounts | undefined,
  family: "v1" | "v2",
): string {
  const { use, property, compact } = column;
  const asProperty =
    family === "v1" ? `the custom property ${property}` : "left out, as v2 has no custom properties";
  switch (use.kind) {
    case "field": {
      if (family === "v2" && notInV2.has(use.field)) return "left out, as v2 has no such field";
      if (!use.isFurther) return use.field === "email" ? "email, in lower case" : use.field;
      const first = all.find(
        (one) => one.use.kind === "field" && one.use.field === use.field && !one.use.isFurther,
      );
      return `${use.field} where ${first ? shownHeading(first) : "the first"} is blank${use.field === "phone" ? " or invalid" : ""}; else, where it differs, ${asProperty}`;
    }
    case "consent": {
      const names = use.consent.channels.map((channel) => channelNames[channel]).join(" and ");
      return `${names} consent: ${describeWords(words)}${words?.words.has("<date>") ? `; the days are ${asProperty}` : ""}`;
    }
    case "suppression":
      return family === "v1" ? "is_suppressed, where it is true" : "left out, as v2 has no such field";
    case "property":
    case "open": {
      const isOfConsent = isEvidence(column, provider) || ownEvidence.has(compact);
      return family === "v2" && isOfConsent ? "evidence of the consent" : asProperty;
    }
    case "import note":
      return "the row's consent in an earlier import";
    case "left out":
      return `left out: ${use.why}`;
    default:
      return use satisfies never;
  }
}

function describeWords(counts: WordCounts | undefined): string {
  if (counts === undefined || counts.words.size === 0) return "blank";
  const named = Array.from(counts.words, ([word, { meaning, rows }]) => {
    const shown = meaning === undefined ? "held back, as the map does not name it" : shownMeaning[meaning];
    return `${JSON.stringify(word)} → ${shown} (${inFull(rows)})`;
  });
  return [...named, ...(counts.further === 0 ? [] : [`and ${inFull(counts.further)} more`])].join(", ");
}

const shownMeaning = {
  SUBSCRIBED: "SUBSCRIBED",
  NON_SUBSCRIBED: "NON_SUBSCRIBED",
  UNSUBSCRIBED: "UNSUBSCRIBED",
  none: "says nothing",
  hold: "held back",
} as const;

/** The lines to add to a map, for the words that it does not name. */
export function unnamedLines({ plan, words, mapPath }: FileSurvey): string[] {
  return plan.columns.flatMap((column) => {
    const unnamed = Array.from(words.get(column.index)?.words ?? []).filter(
      ([, { meaning }]) => meaning === undefined,
    );
    if (unnamed.length === 0) return [];
    const rows = unnamed.reduce((sum, [, count]) => sum + count.rows, 0);
    const shown = unnamed.slice(0, 12).map(([word]) => `${JSON.stringify(word)}: "hold"`);
    return [
      `${counted(rows, "row is", "rows are")} held back, as ${mapPath} does not name a word of ${JSON.stringify(column.name)}. Add to its "words",`,
      "with SUBSCRIBED, NON_SUBSCRIBED, UNSUBSCRIBED or none instead of hold, if you know it:",
      `  ${printable(shown.join(", "))}`,
    ];
  });
}
