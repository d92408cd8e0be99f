import { anyDate } from "./column-cells.ts";
import {
  type ColumnMap,
  ColumnMapError,
  type ColumnRule,
  type ConsentRule,
  type Everyone,
  type Meaning,
} from "./column-map.ts";
import { type ContactField, fieldOf, furtherIdentifiers } from "./contact-columns.ts";
import type { Channel } from "./contact.ts";
import { CsvFileError, type CsvFile } from "./csv-file.ts";
import { compactHeading, snakeCase } from "./heading.ts";
import { mapNames } from "./propose-map.ts";
import { isOfReport, noteHeadings } from "./report-note.ts";
import type { Vendor } from "./vendor.ts";
import { sectionOf, vendorOf } from "./vendors.ts";
import { isMoment, wordOf } from "./words.ts";

/** A column of consent, ready to look words up. */
export interface ConsentColumn {
  readonly channels: readonly Channel[];
  readonly words: ReadonlyMap<string, Meaning>;
  /** Whether its words are days and nothing else, so that "never" says nothing. */
  readonly isOfDays: boolean;
}

/** The use of a column. */
export type ColumnUse =
  | { readonly kind: "field"; readonly field: ContactField; readonly isFurther: boolean }
  | { readonly kind: "consent"; readonly consent: ConsentColumn }
  | { readonly kind: "suppression" }
  | { readonly kind: "property" }
  | { readonly kind: "import note" }
  | { readonly kind: "left out"; readonly why: string }
  /** Nobody has said what it is; nothing is sent. */
  | { readonly kind: "open" };

/** One column of a file, and its use. */
export interface Column {
  readonly index: number;
  readonly heading: string;
  /** Its name in the map: a second `Tag` is `Tag (2)`. */
  readonly name: string;
  /** The heading in the form for comparisons. */
  readonly compact: string;
  readonly use: ColumnUse;
  /** The identifiers that it may hold, if it is no field. */
  readonly identifiers: readonly Channel[];
  /** The custom property for cells that are not sent otherwise; unique in the file. */
  readonly property: string;
}

/** The plan of one file. */
export interface FilePlan {
  readonly file: CsvFile;
  /** "Mailchimp", "plain table" */
  readonly layout: string;
  /** The prefix of custom properties, and the contacts' `source`. */
  readonly provider: string | undefined;
  readonly columns: readonly Column[];
  /** The consent of everybody in the file. */
  readonly everyone: Exclude<Everyone, "?"> | undefined;
}

/**
 * Plans a file by its map. Throws a `CsvFileError` if no column identifies the person, and a `ColumnMapError` if two columns
 * become one custom property, as one of the two cells would be lost.
 */
export function planFile(file: CsvFile, map: ColumnMap): FilePlan {
  const vendor = vendorOf(file.headings);
  const names = mapNames(file.headings);
  const rules = names.map((name) => map.columns.get(name));
  refuseOneName(file, names, rules);
  const uses = ranked(
    file.headings,
    rules.map((rule, index) => useOf(file.headings[index]!, rule)),
  );
  const properties = propertyNames(file.headings, rules, vendor?.source);
  const columns = file.headings.map((heading, index): Column => ({
    index,
    heading,
    name: names[index]!,
    compact: compactHeading(heading),
    property: properties[index]!,
    identifiers: furtherIdentifiers(heading),
    use: uses[index]!,
  }));
  const identifies = ({ use }: Column) =>
    use.kind === "open" || (use.kind === "field" && ["email", "phone"].includes(use.field));
  if (!columns.some(identifies)) throw noIdentifier(file);
  return {
    file,
    layout: layoutName(vendor, file.path),
    provider: vendor?.source,
    columns,
    everyone: map.everyone === "?" ? undefined : map.everyone,
  };
}

function layoutName(vendor: Vendor | undefined, path: string): string {
  if (vendor === undefined) return "plain table";
  const section = sectionOf(vendor, path);
  if (section !== undefined) return `${vendor.name}, ${section.name} contacts`;
  return vendor.sections === undefined ? vendor.name : `${vendor.name}, no section in the file's name`;
}

function useOf(heading: string, rule: ColumnRule | undefined): ColumnUse {
  if (heading === noteHeadings.reason) return { kind: "left out", why: "a report's own column" };
  if (heading === noteHeadings.note) return { kind: "import note" };
  // A column without a rule is blank.
  if (rule === undefined || rule === "property") return { kind: "property" };
  if (rule === "?") return { kind: "open" };
  if (rule === "ignore") return { kind: "left out", why: "the map says ignore" };
  if (rule === "is_suppressed") return { kind: "suppression" };
  if (typeof rule !== "string") return { kind: "consent", consent: consentColumn(rule) };
  if (isProperty(rule)) return { kind: "property" };
  return { kind: "field", field: rule, isFurther: false };
}

const isProperty = (rule: ColumnRule): rule is `property:${string}` =>
  typeof rule === "string" && rule.startsWith("property:");

function consentColumn({ consent, words }: ConsentRule): ConsentColumn {
  const entries = Object.entries(words).map(([word, meaning]): [string, Meaning] => [wordOf(word), meaning]);
  return {
    channels: consent === "both" ? ["email", "phone"] : [consent],
    words: new Map(entries),
    isOfDays: entries.every(([word]) => word === "" || word === anyDate || isMoment(word)),
  };
}

/** Marks all columns of a field but the main one as further; of `Work email, Email` the second is the main one. */
function ranked(headings: readonly string[], uses: readonly ColumnUse[]): ColumnUse[] {
  const isFirst = (field: ContactField, index: number) => {
    const all = uses.flatMap((use, at) => (use.kind === "field" && use.field === field ? [at] : []));
    const main = all.find((at) => fieldOf(headings[at]!)?.isFurther !== true);
    return index === (main ?? all[0]);
  };
  return uses.map((use, index) =>
    use.kind === "field" ? { ...use, isFurther: !isFirst(use.field, index) } : use,
  );
}

function refuseOneName(
  { path }: CsvFile,
  names: readonly string[],
  rules: readonly (ColumnRule | undefined)[],
): void {
  for (const [index, rule] of rules.entries()) {
    const first = rules.indexOf(rule);
    if (rule === undefined || !isProperty(rule) || first === index) continue;
    const columns = `${JSON.stringify(names[first])} and ${JSON.stringify(names[index])}`;
    throw new ColumnMapError(
      `${path}: its map makes the columns ${columns} one custom property, ${JSON.stringify(rule)}. Give each a name of its own.`,
    );
  }
}

/** A unique name for each column: the map's, or the heading in snake_case with the provider's prefix. */
function propertyNames(
  headings: readonly string[],
  rules: readonly (ColumnRule | undefined)[],
  source: string | undefined,
): string[] {
  const given = rules.map((rule) =>
    rule !== undefined && isProperty(rule) ? rule.slice("property:".length) : undefined,
  );
  const names = headings.map((heading, index) => {
    const name = snakeCase(heading) || `column_${index + 1}`;
    return (
      given[index] ?? (source === undefined || name.startsWith(`${source}_`) ? name : `${source}_${name}`)
    );
  });
  const used = new Set<string>(given.filter((name) => name !== undefined));
  return names.map((name, index) => {
    if (given[index] !== undefined) return name;
    let candidate = name;
    const isOwnOfAnother = () =>
      candidate !== name && names.indexOf(candidate) !== -1 && names.indexOf(candidate) !== index;
    for (let count = 2; used.has(candidate) || isOwnOfAnother(); count++) candidate = `${name}_${count}`;
    used.add(candidate);
    return candidate;
  });
}

function noIdentifier({ path, headings }: CsvFile): CsvFileError {
  const shown = headings.filter((heading) => heading !== "" && !isOfReport(heading)).slice(0, 4);
  const begins =
    shown.length === 0 ? "Its first row is blank" : `Its headings begin with ${shown.join(", ")}`;
  return new CsvFileError(
    `${path}: no column identifies the person of a row. ${begins}; one must be email or phone. ` +
      'A map can say it: "HEADING": "email".',
  );
}

/** A column's heading for messages. */
export function shownHeading({ heading, index }: Pick<Column, "heading" | "index">): string {
  return heading === "" ? `column ${index + 1}` : `"${heading}"`;
}
