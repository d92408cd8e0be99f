import { type ContactField, isOfAnother } from "./contact-columns.ts";
import { parseDay, parseEmail, parseGender, type ParsedValue } from "./contact-values.ts";
import type { Contact, RowIssue } from "./contact.ts";
import type { CsvRow } from "./csv-row.ts";
import { type Column, type FilePlan, shownHeading } from "./file-plan.ts";
import { identifiersIn, isAddress, isNumber, isOfAddresses, isOfNumbers } from "./identifiers.ts";
import { parsePhone } from "./phone.ts";
import { isOfReport } from "./report-note.ts";
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
  /** The addresses and numbers that are not sent as such: of further columns, and of those that are left out. */
  readonly others: string[];
  issues: RowIssue[];
  readonly remarks: string[];
}

/** Reads the fields of a row; of several columns of a field the first that is not blank counts, or the first valid number. */
export function readFields(plan: FilePlan, row: CsvRow): RowFields {
  const fields: RowFields = {
    contact: {},
    cells: new Map(),
    properties: {},
    others: [],
    issues: [],
    remarks: [],
  };
  const firstOnes = plan.columns.filter(({ use }) => use.kind === "field" && !use.isFurther);
  for (const column of new Set([...firstOnes, ...plan.columns])) {
    const { use } = column;
    const text = row.cell(column.index);
    if (text === undefined) continue;
    if (use.kind === "field") {
      const isOfPerson = use.field === "email" || use.field === "phone";
      if (!isOfPerson || !isBlank(wordOf(text))) addField(fields, use.field, { column, text }, plan);
    } else if (use.kind === "property" || use.kind === "left out")
      for (const channel of column.identifiers)
        addOther(fields, channel, text, plan, { mayBePart: isNumberAlone(text) });
  }
  if (!row.isMisshapen) addUnderAnyHeading(fields, plan, row);
  if (!fields.cells.has("email") && !fields.cells.has("phone"))
    fields.issues.push({ field: "email", message: `required: an email or a phone${wayOut(plan, row)}` });
  return fields;
}

// A whole number identifies the person whatever the heading: "Телефон". So does an address, where the row has none of
// its own: "Recipient".
function addUnderAnyHeading(fields: RowFields, plan: FilePlan, row: CsvRow): void {
  for (const { heading, index, use } of plan.columns) {
    const text = row.cell(index);
    if (text === undefined || use.kind === "import note" || isOfAnother(heading)) continue;
    if (!fields.cells.has("email") && isOfAddresses(text)) addOther(fields, "email", text, plan);
    const isPhone = use.kind === "field" && use.field === "phone";
    if (!isPhone && isOfNumbers(text)) addOther(fields, "phone", text, plan);
  }
}

/** The columns of a row without an address and number that hold one under another heading, as the map should have them. */
function wayOut({ columns }: FilePlan, row: CsvRow): string {
  const rules = columns.flatMap(({ heading, name, index }) => {
    const text = row.cell(index);
    if (text === undefined || isOfReport(heading) || isOfAnother(heading)) return [];
    const field = isOfAddresses(text) ? "email" : isOfNumbers(text) ? "phone" : undefined;
    return field === undefined ? [] : [`${JSON.stringify(name)}: ${JSON.stringify(field)}`];
  });
  return rules.length === 0 ? "" : `; this row holds one: write ${rules.join(" or ")} in the map`;
}

// The digits of a day, or in a text, are no part of a number.
function isNumberAlone(text: string): boolean {
  return /^[+(\d][\d\s()./-]{6,24}$/.test(text) && !/^\d{1,4}([./-])\d{1,2}\1\d{1,4}(\s|$)/.test(text);
}

/** Adds the addresses or numbers in a cell that are not sent as such, but identify the person. */
function addOther(
  { others }: RowFields,
  field: ContactField,
  text: string,
  plan: FilePlan,
  { mayBePart } = { mayBePart: true },
): void {
  if (field !== "email" && field !== "phone") return;
  const found = identifiersIn(field === "phone" ? asWritten(text, plan) : text, true);
  const isOfField = (one: string) => isAddress(one) === (field === "email");
  others.push(...found.filter((one) => isOfField(one) && (mayBePart || isAddress(one) || isNumber(one))));
}

function addField(fields: RowFields, field: ContactField, cell: ColumnCell, plan: FilePlan): void {
  const { column, text } = cell;
  const value = parseValue(field, text, plan);
  const used = fields.cells.get(field);
  if (used !== undefined && field === "phone" && fields.contact.phone === undefined && "value" in value) {
    addOther(fields, field, used.text, plan);
    fields.properties[used.column.property] = used.text;
    fields.issues = fields.issues.filter((issue) => issue.field !== field);
    fields.remarks.push(
      `${shownHeading(used.column)} holds no phone that can be sent, so that of ${shownHeading(column)} counts`,
    );
  } else if (used !== undefined) {
    const own = "value" in value ? value.value : text;
    if (own === fields.contact[field] || text === used.text) return;
    addOther(fields, field, text, plan);
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

function parseValue(field: ContactField, text: string, plan: FilePlan): ParsedValue {
  if (field === "email") return parseEmail(text);
  if (field === "phone") return parsePhone(asWritten(text, plan));
  if (field === "gender") return parseGender(text);
  return { value: field === "dob" ? parseDay(text) : text };
}

// Brevo writes a number with its country code, and without the plus.
function asWritten(text: string, { provider }: FilePlan): string {
  return provider === "brevo" && /^[1-9]\d{7,14}$/.test(text) ? `+${text}` : text;
}
