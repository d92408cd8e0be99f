import type { ContactField } from "./contact-columns.ts";
import { parseDay, parseEmail, type ParsedValue, parsePhone } from "./contact-values.ts";
import type { Channel, Contact, RowIssue } from "./contact.ts";
import type { CsvRow } from "./csv-row.ts";
import { type Column, type FilePlan, shownHeading } from "./file-plan.ts";
import { refusalIn } from "./floor.ts";
import { comparableEmail, endsOfNumbers, isWholeAddress, namesIn, type NumberEnd } from "./identifiers.ts";
import {
  type ConsentCell,
  mayRefuse,
  meaningsIn,
  type RefusingCell,
  RowWords,
  type Words,
} from "./row-words.ts";
import { isBlank, isMoment, wordOf } from "./words.ts";

/** A cell and its column. */
export interface ColumnCell {
  readonly column: Column;
  readonly text: string;
}

/** One row of a file: the contact without consent, the consent, and the issues. */
export interface ReadRow {
  /** The path as it was given. */
  readonly file: string;
  readonly number: number;
  readonly source: CsvRow;
  readonly contact: Contact;
  /** The cell of each field, for invalid values. */
  readonly cells: ReadonlyMap<string, ColumnCell>;
  /** The row's further addresses and numbers. */
  readonly others: readonly string[];
  readonly ends: readonly NumberEnd[];
  readonly words: Readonly<Words>;
  readonly consentCells: readonly ConsentCell[];
  readonly refusing: readonly RefusingCell[];
  /** The words that hold the row back, with the reasons. */
  readonly held: Readonly<Record<Channel, readonly string[]>>;
  /** The address and the number by which the row knows its person, in the form for comparisons. */
  readonly person: { readonly email?: string; readonly phone?: string };
  /** Whether the row holds a refusal, and cannot be sent to anybody. */
  readonly isUnnamedRefusal: boolean;
  readonly issues: readonly RowIssue[];
  /** Remarks on unexpected changes. Without values, so that equal remarks can be counted. */
  readonly remarks: readonly string[];
}

/** Reads a row. */
export function readRow(plan: FilePlan, row: CsvRow): ReadRow {
  const fields = readFields(plan, row);
  const consent = new RowWords(plan);
  const properties: Record<string, string> = { ...fields.properties };
  for (const column of plan.columns) {
    const text = row.cell(column.index);
    if (!row.isMisshapen) consent.read(column, text);
    if (text !== undefined && isProperty(column, text)) properties[column.property] = text;
  }
  if (row.isMisshapen) consent.hold();
  const { provider } = plan;
  const person = personIn(fields, row);
  const isNamed = person.email !== undefined || (person.phone !== undefined && !fields.cells.has("email"));
  return {
    file: plan.file.path,
    number: row.number,
    source: row,
    contact: {
      ...fields.contact,
      ...(provider === undefined ? {} : { source: provider }),
      ...(Object.keys(properties).length === 0 ? {} : { custom_properties: properties }),
    },
    cells: row.isMisshapen ? new Map() : fields.cells,
    person,
    others: [...fields.names].filter((name) => name !== person.email && name !== person.phone),
    ends: fields.ends,
    words: consent.words,
    consentCells: consent.cells,
    refusing: consent.refusing,
    held: consent.held,
    isUnnamedRefusal:
      !isNamed &&
      (row.isMisshapen
        ? row.cells.some((cell) => isRefusalAnywhere(plan, cell))
        : mayRefuse(consent.ofCells)),
    issues: row.isMisshapen ? row.shapeIssues() : fields.issues,
    remarks: row.isMisshapen ? [] : fields.remarks,
  };
}

function personIn({ contact }: RowFields, { isMisshapen }: CsvRow): ReadRow["person"] {
  const { email, phone } = contact;
  if (isMisshapen) return {};
  return {
    ...(email !== undefined && isWholeAddress(email) ? { email: comparableEmail(email) } : {}),
    ...(phone === undefined ? {} : { phone }),
  };
}

/** Whether the cell would be a refusal under any heading of the file. */
function isRefusalAnywhere({ columns }: FilePlan, cell: string): boolean {
  if (cell.trim() === "") return false;
  if (refusalIn(cell) !== undefined) return true;
  return columns.some(
    ({ use }) =>
      use.kind === "consent" &&
      meaningsIn(use, wordOf(cell))?.some((meaning) => Object.values(meaning).includes("UNSUBSCRIBED")),
  );
}

/** A day is more than its meaning, so it is kept as a custom property. */
function isProperty({ use }: Column, text: string): boolean {
  return use.kind === "property" || (use.kind === "consent" && isMoment(text));
}

/** The contact's fields in one row. */
interface RowFields {
  /** Without consent. */
  contact: Contact;
  /** The cell of each field. */
  readonly cells: Map<string, ColumnCell>;
  /** Cells of a second column of a field, if they differ. */
  readonly properties: Record<string, string>;
  /** The addresses and numbers in all cells of the person. */
  readonly names: ReadonlySet<string>;
  /** The ends of the numbers in the columns of numbers. */
  readonly ends: readonly NumberEnd[];
  issues: RowIssue[];
  readonly remarks: string[];
}

/** Reads the fields of a row; of several columns of a field the first that is not blank counts, or the first valid number. */
function readFields(plan: FilePlan, row: CsvRow): RowFields {
  const names = new Set<string>();
  const phones = plan.columns.filter(({ use }) => use.kind === "field" && use.field === "phone");
  const fields: RowFields = {
    ends: phones.flatMap(({ index }) => endsOfNumbers(row.cell(index) ?? "")),
    contact: {},
    cells: new Map(),
    properties: {},
    names,
    issues: [],
    remarks: [],
  };
  for (const [index, cell] of row.cells.entries())
    // The cells of a line that was cut or has more may stand under wrong headings.
    if (row.isMisshapen || plan.columns[index]?.isOfAnother !== true)
      for (const name of namesIn(cell)) names.add(name);
  const firstOnes = plan.columns.filter(({ use }) => use.kind === "field" && !use.isFurther);
  for (const column of new Set([...firstOnes, ...plan.columns])) {
    const { use } = column;
    const text = row.cell(column.index);
    if (text === undefined || use.kind !== "field") continue;
    const isOfPerson = use.field === "email" || use.field === "phone";
    if (!isOfPerson || !isBlank(wordOf(text))) addField(fields, use.field, { column, text }, plan);
  }
  if (!fields.cells.has("email") && !fields.cells.has("phone"))
    fields.issues.push({ field: "email", message: "required: an email or a phone" });
  return fields;
}

function addField(fields: RowFields, field: ContactField, cell: ColumnCell, plan: FilePlan): void {
  const { column, text } = cell;
  const value = parseValue(field, text, plan);
  const used = fields.cells.get(field);
  if (used !== undefined && field === "phone" && fields.contact.phone === undefined && "value" in value) {
    fields.properties[used.column.property] = used.text;
    fields.issues = fields.issues.filter((issue) => issue.field !== field);
  } else if (used !== undefined) {
    const own = "value" in value ? value.value : text;
    if (own === fields.contact[field] || text === used.text) return;
    fields.properties[column.property] = text;
    return;
  }
  fields.cells.set(field, cell);
  if (field === "email" && "value" in value && /[^\s<][^<]*</.test(text))
    fields.remarks.push(`${shownHeading(column)} holds a name beside the address, which is left out`);
  if ("value" in value) fields.contact = { ...fields.contact, [field]: value.value };
  else fields.issues.push({ field, message: value.problem });
}

function parseValue(field: ContactField, text: string, { provider }: FilePlan): ParsedValue {
  if (field === "email") return parseEmail(text);
  // Brevo writes a number with its country code, and without the plus.
  if (field === "phone")
    return parsePhone(provider === "brevo" && /^[1-9]\d{7,14}$/.test(text) ? `+${text}` : text);
  if (field === "gender") return { value: text.toUpperCase() };
  return { value: field === "dob" ? parseDay(text) : text };
}
