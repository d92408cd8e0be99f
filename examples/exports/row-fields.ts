import type { ContactField } from "./contact-columns.ts";
import { parseDay, parseEmail, parseGender, type ParsedValue } from "./contact-values.ts";
import type { Contact, RowIssue } from "./contact.ts";
import type { CsvRow } from "./csv-row.ts";
import { type Column, type FilePlan, shownHeading } from "./file-plan.ts";
import { endsOfNumbers, namesIn, type NumberEnd } from "./identifiers.ts";
import { parsePhone } from "./phone.ts";
import { isBlank, wordOf } from "./words.ts";

/** A cell and its column. */
export interface ColumnCell {
  readonly column: Column;
  readonly text: string;
}

/** The contact's fields in one row. */
export interface RowFields {
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
export function readFields(plan: FilePlan, row: CsvRow): RowFields {
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
    fields.remarks.push(
      `${shownHeading(used.column)} holds no phone that can be sent, so that of ${shownHeading(column)} counts`,
    );
  } else if (used !== undefined) {
    const own = "value" in value ? value.value : text;
    if (own === fields.contact[field] || text === used.text) return;
    fields.properties[column.property] = text;
    fields.remarks.push(
      `${shownHeading(column)} differs from ${shownHeading(used.column)}, whose ${field} counts`,
    );
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
  if (field === "gender") return parseGender(text);
  return { value: field === "dob" ? parseDay(text) : text };
}
