import { type ColumnCells, readColumns } from "./column-cells.ts";
import { type ColumnChoice, leftOutBy } from "./column-choice.ts";
import { consentColumn, type ConsentColumn } from "./consent-columns.ts";
import { type ContactField, fieldOf, furtherIdentifiers, isOfAnother } from "./contact-columns.ts";
import type { Channel, ConsentEvidence } from "./contact.ts";
import { CsvFileError, type CsvFile } from "./csv-file.ts";
import { type FileSection, sectionByName } from "./file-section.ts";
import { compactHeading, snakeCase } from "./heading.ts";
import { type Layout, layoutOf } from "./layouts.ts";
import { noteHeadings } from "./report-note.ts";

/** The use of a column. */
export type ColumnUse =
  | { readonly kind: "field"; readonly field: ContactField; readonly isFurther: boolean }
  | { readonly kind: "consent"; readonly consent: ConsentColumn }
  | { readonly kind: "evidence"; readonly of: keyof ConsentEvidence }
  | { readonly kind: "property" }
  | { readonly kind: "import note" }
  /** A column that the user leaves out keeps its own use: its refusals count, and it identifies the person. */
  | { readonly kind: "left out"; readonly why: string; readonly own?: ColumnUse };

/** One column of a file, and its use. */
export interface Column {
  readonly index: number;
  readonly heading: string;
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
  readonly layout: Layout;
  readonly columns: readonly Column[];
  /** Whether the file has telephone numbers, and no column of addresses, also none that is left out. */
  readonly isOfNumbers: boolean;
  /** The consent of everybody in the file, by its name; "unclear" if the name may mean them or the others. */
  readonly section: FileSection | "unclear" | undefined;
}

/**
 * Plans a file by its headings, and by the cells of a column whose heading leaves its use open. Throws a `CsvFileError`
 * without a column for the e-mail address or phone, and if another column than the e-mail holds the addresses.
 */
export async function planFile(
  file: CsvFile,
  choice: ColumnChoice = {},
  signal?: AbortSignal,
): Promise<FilePlan> {
  const layout = layoutOf(file.path, file.headings);
  const cells = await readColumns(file, openColumns(file.headings, layout), signal);
  const uses = ranked(file.headings.map((heading, index) => useOf(heading, layout, cells.get(index))));
  const property = propertyNames(file.headings, layout);
  const columns = file.headings.map((heading, index): Column => ({
    index,
    heading,
    compact: compactHeading(heading),
    property: property[index]!,
    identifiers: furtherIdentifiers(heading),
    use: chosen(uses[index]!, leftOutBy(heading, choice)),
  }));
  const isField = (use: ColumnUse, ...fields: ContactField[]) =>
    use.kind === "field" && fields.includes(use.field);
  const hasEmail = uses.some((use) => isField(use, "email"));
  const ofAddresses = hasEmail ? [] : columns.filter(({ index }) => cells.get(index)?.areAddresses === true);
  const unnamed = ofAddresses.find(({ use }) => use.kind !== "left out");
  const isAddressed = unnamed !== undefined && !file.headings.some((heading) => heading.includes("@"));
  if (isAddressed) throw addressesElsewhere(file, unnamed);
  if (!uses.some((use) => isField(use, "email", "phone"))) throw noIdentifier(file);
  if (!columns.some(({ use }) => isField(use, "email", "phone"))) {
    throw new CsvFileError(
      `${file.path}: no remaining column identifies the person of a row: an e-mail address or a telephone number is needed.`,
    );
  }
  return {
    file,
    layout,
    columns,
    isOfNumbers: !hasEmail && ofAddresses.length === 0,
    section: layout.section ?? sectionByName(file.path),
  };
}

/** The columns whose cells decide their use. */
function openColumns(headings: readonly string[], layout: Layout): number[] {
  const uses = headings.map((heading) => useOf(heading, layout));
  const hasEmail = uses.some((use) => use.kind === "field" && use.field === "email");
  return headings.flatMap((heading, index) => {
    const compact = compactHeading(heading);
    const mayHoldAddresses = !hasEmail && uses[index]?.kind !== "field" && !isOfAnother(heading);
    return mayHoldAddresses || compact === "subscriber" || isStateOrRegion(compact) ? [index] : [];
  });
}

function chosen(use: ColumnUse, by: "without" | "only" | undefined): ColumnUse {
  const isOfPerson = use.kind === "consent" || (use.kind === "field" && use.field === "email");
  const isOurs = use.kind === "import note" || use.kind === "left out";
  if (by === undefined || isOurs || (by === "only" && isOfPerson)) return use;
  const why = by === "only" ? "--only does not name it" : "--without names it";
  return { kind: "left out", why, own: use };
}

const evidence: ReadonlyMap<string, keyof ConsentEvidence> = new Map([
  ["consentcreatedat", "createdAt"],
  ["consentip", "ip"],
  ["consentsource", "source"],
]);

function useOf(heading: string, layout: Layout, cells?: ColumnCells): ColumnUse {
  if (heading === noteHeadings.reason) return { kind: "left out", why: "a report's own column" };
  if (heading === noteHeadings.note) return { kind: "import note" };
  const compact = compactHeading(heading);
  const given = layout.fields.get(compact);
  if (given === "property") return { kind: "property" };
  if (given !== undefined) return { kind: "field", field: given, isFurther: false };
  if (compact === "issuppressed")
    return { kind: "consent", consent: { question: "undeliverable", channels: ["email"], isGeneral: true } };
  const of = evidence.get(compact);
  if (of !== undefined) return { kind: "evidence", of };
  // MailerLite's heading of the addresses; of a yes and a no it is a consent.
  if (compact === "subscriber" && cells?.areAddresses)
    return { kind: "field", field: "email", isFurther: true };
  const isStatus = isStateOrRegion(compact) && cells?.areStates;
  const field = isStatus ? undefined : fieldOf(heading);
  if (field !== undefined) return { kind: "field", ...field };
  const consent = consentColumn(isStatus ? "Status" : heading, layout.provider);
  return consent === undefined ? { kind: "property" } : { kind: "consent", consent };
}

/** Whether the column may hold a state of consent, or a part of a country, which the cells show. */
export function isStateOrRegion(compact: string): boolean {
  return /^(state|estado|stato|etat|situacao|situation|stan|stav|tila)$/.test(compact);
}

/** Whether a word under a heading of another status is about the person, and not about an order or a parcel. */
export function isStatusOfPerson(compact: string, word: string): boolean {
  return (
    /^(contact|recipient|subscriber|kontakt|kunden|empfanger|abonnenten|klant)(status|statut)$/.test(
      compact,
    ) ||
    (/(status|statut)$/.test(compact) && ofPerson.test(word))
  );
}

const ofPerson = /bounc|complain|spam|abuse|unconfirmed|not confirmed|suppress|cleaned|quarantin/i;

/** Marks all columns of a field but the main one as further; of `Work email, Email` the second is the main one. */
function ranked(uses: readonly ColumnUse[]): ColumnUse[] {
  const first = (field: ContactField) => {
    const own = uses.findIndex((use) => use.kind === "field" && use.field === field && !use.isFurther);
    return own === -1 ? uses.findIndex((use) => use.kind === "field" && use.field === field) : own;
  };
  return uses.map((use, index) =>
    use.kind === "field" ? { ...use, isFurther: index !== first(use.field) } : use,
  );
}

/** A unique name for each column, in snake_case with the provider's prefix; a repeated name gets a number. */
function propertyNames(headings: readonly string[], { provider }: Layout): string[] {
  const names = headings.map((heading, index) => {
    const name = snakeCase(heading) || `column_${index + 1}`;
    return provider === undefined || name.startsWith(`${provider}_`) ? name : `${provider}_${name}`;
  });
  const used = new Set<string>();
  return names.map((name, index) => {
    let candidate = name;
    const isOwnOfAnother = () =>
      candidate !== name && names.indexOf(candidate) !== -1 && names.indexOf(candidate) !== index;
    for (let count = 2; used.has(candidate) || isOwnOfAnother(); count++) candidate = `${name}_${count}`;
    used.add(candidate);
    return candidate;
  });
}

function addressesElsewhere({ path }: CsvFile, column: Column): CsvFileError {
  const shown = shownHeading(column);
  const otherwise = column.heading === "" ? "give it another heading and leave" : "leave";
  return new CsvFileError(
    `${path}: ${shown} holds e-mail addresses, and no column is the e-mail. Name it Email if they identify the persons; ` +
      `otherwise ${otherwise} it out with --without${column.heading === "" ? "" : ` ${shown}`}.`,
  );
}

function noIdentifier({ path, headings }: CsvFile): CsvFileError {
  const shown = headings.filter((heading) => heading !== "").slice(0, 4);
  if (headings.some((heading) => heading.includes("@"))) {
    return new CsvFileError(
      `${path}: its first row holds an e-mail address. The first row must be the headings: email, first_name, …`,
    );
  }
  const begins =
    shown.length === 0 ? "Its first row is blank" : `Its headings begin with ${shown.join(", ")}`;
  return new CsvFileError(
    `${path}: no column identifies the person of a row. ${begins}; one must be email or phone.`,
  );
}

/** A column's heading for messages. */
export function shownHeading({ heading, index }: Pick<Column, "heading" | "index">): string {
  return heading === "" ? `column ${index + 1}` : `"${heading}"`;
}
