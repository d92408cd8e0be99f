import { InputError } from "../console/program.ts";
import type { ChannelMeanings, ColumnMap, ColumnRule, ConsentRule, Meaning } from "./column-map.ts";
import { type ContactField, contactFields, fieldOf, isOfAnother, snakeCase } from "./contact-columns.ts";
import { type Channel, channels, type OptIn, optIns } from "./contact.ts";
import { type CsvFile, distinct, reasonHeading } from "./csv-file.ts";
import { vendorOf } from "./vendors.ts";
import { wordOf } from "./words.ts";

/** What each word of a column of consent means for each channel. */
export interface ConsentUse {
  readonly channels: readonly Channel[];
  readonly words: ReadonlyMap<string, ChannelMeanings>;
  /** As the map writes it. */
  readonly rule: ConsentRule;
}

/** The use of a column: its rule, as it is carried out. */
export type ColumnUse = ContactField | "is_suppressed" | "double_opt_in" | "property" | "ignore" | ConsentUse;

/** One column of a file, and its use. */
export interface Column {
  readonly index: number;
  readonly heading: string;
  /** Its name in the map: a second `Tag` is `Tag (2)`. */
  readonly name: string;
  readonly use: ColumnUse;
  /** Whether it is about another person: "Contact owner". */
  readonly isOfAnother: boolean;
  /** The custom property for cells that are not sent otherwise; unique in the file. */
  readonly property: string;
}

/** The plan of one file. */
export interface FilePlan {
  readonly file: CsvFile;
  /** "Mailchimp", "plain table" */
  readonly layout: string;
  readonly columns: readonly Column[];
  /** The columns of each field, the main one first. */
  readonly fields: ReadonlyMap<ContactField, readonly Column[]>;
  /** The consent of everybody in the file. */
  readonly everyone: Readonly<Record<Channel, OptIn | undefined>>;
}

/** Plans a file by its map. Throws an `InputError` if no column identifies the person. */
export function planFile(file: CsvFile, map: ColumnMap): FilePlan {
  const rules = file.names.map((name) => map.columns.get(name));
  const wanted = file.headings.map(
    (heading, index) => propertyName(rules[index], heading) || `column_${index + 1}`,
  );
  // No cell may be lost.
  const properties = distinct(wanted, (name, count) => `${name}_${count}`);
  const columns = file.headings.map((heading, index): Column => ({
    index,
    heading,
    name: file.names[index]!,
    property: properties[index]!,
    isOfAnother: isOfAnother(heading),
    use: useOf(heading, rules[index]),
  }));
  const fields = columnsOfFields(columns);
  if (!fields.has("email") && !fields.has("phone")) throw noIdentifier(file);
  return {
    file,
    layout: vendorOf(file.headings)?.name ?? "plain table",
    columns,
    fields,
    everyone: { email: optInOf(map.everyone?.email), phone: optInOf(map.everyone?.phone) },
  };
}

const propertyName = (rule: ColumnRule | undefined, heading: string) =>
  rule !== undefined && isProperty(rule) ? rule.slice("property:".length) : snakeCase(heading);

const optInOf = (meaning: string | undefined) => optIns.find((optIn) => optIn === meaning);

function useOf(heading: string, rule: ColumnRule | undefined): ColumnUse {
  if (heading === reasonHeading) return "ignore";
  if (rule === "?") throw new TypeError("a column without an answer is not planned");
  if (typeof rule === "object") return consentUse(rule);
  // A column without a rule is blank.
  return rule === undefined || isProperty(rule) ? "property" : rule;
}

const isProperty = (rule: ColumnRule): rule is `property:${string}` =>
  typeof rule === "string" && rule.startsWith("property:");

function consentUse(rule: ConsentRule): ColumnUse {
  const { consent, words } = rule;
  const own = consent === "both" ? channels : channels.filter((channel) => channel === consent);
  const meanings = Object.entries(words).map(([word, meaning]): [string, ChannelMeanings] => {
    const each = (one: Meaning): ChannelMeanings =>
      Object.fromEntries(own.map((channel) => [channel, one] as const));
    // Safe: a map with a "?" is not planned.
    return [wordOf(word), typeof meaning === "string" ? each(meaning as Meaning) : meaning];
  });
  return { channels: own, words: new Map(meanings), rule };
}

/** Of `Work email, Email` the second is the main one. */
function columnsOfFields(columns: readonly Column[]): Map<ContactField, Column[]> {
  const isFurther = ({ heading }: Column) => fieldOf(heading)?.isFurther === true;
  const fields = new Map<ContactField, Column[]>();
  for (const column of [...columns.filter((one) => !isFurther(one)), ...columns.filter(isFurther)])
    if (isField(column.use)) fields.set(column.use, [...(fields.get(column.use) ?? []), column]);
  return fields;
}

const isField = (use: ColumnUse): use is ContactField => contactFields.some((field) => field === use);

function noIdentifier({ path, headings }: CsvFile): InputError {
  const shown = headings.filter((heading) => heading !== "" && heading !== reasonHeading).slice(0, 4);
  return new InputError(
    `${path}: no column identifies the person of a row. Its headings begin with ${shown.join(", ")}; one must be email or phone. ` +
      'A map can say it: "HEADING": "email". If another sign is between the cells, write it above the headings: sep=;',
  );
}

/** A column's heading for messages. */
export function shownHeading({ heading, name, index }: Column): string {
  return heading === "" ? `column ${index + 1}` : `"${name}"`;
}
