import { v1ContactFieldsSchema } from "audience-sdk/schemas";
import { type ContactField, contactFields } from "./contact-columns.ts";
import { parseDay, parseEmail, type ParsedValue, parsePhone, quoted } from "./contact-values.ts";
import type { Contact, RowIssue } from "./contact.ts";
import type { CsvRow } from "./csv-file.ts";
import { type Column, type FilePlan, shownHeading } from "./file-plan.ts";
import { refusedIn } from "./floor.ts";
import { comparableEmail, endOf, idIn, isWholeAddress, namesIn } from "./identifiers.ts";
import { mayRefuse, meaningsIn, readWords, type RowWords } from "./row-words.ts";
import { isBlank, isMoment, wordOf } from "./words.ts";

/** An unexpected change, which does not hold the row back. */
export interface Note {
  /** Without values, so that equal remarks can be counted. */
  readonly remark: string;
  /** The problem of a value that is sent as a custom property. */
  readonly issue?: RowIssue;
}

/** The contact's fields in one row. */
interface RowFields {
  /** Without consent. */
  contact: Contact;
  /** The cell of each field. */
  readonly cells: Map<ContactField, { readonly column: Column; readonly text: string }>;
  readonly issues: RowIssue[];
  readonly notes: Note[];
}

/** One row of a file: the contact without consent, the consent, and the issues. */
export interface ReadRow extends Readonly<RowFields>, RowWords {
  /** The path as it was given. */
  readonly file: string;
  readonly number: number;
  readonly source: CsvRow;
  /** The row's external id, further addresses and numbers, and the end of a number that is not sent. */
  readonly others: readonly string[];
  /** The address and the number by which the row knows its person, in the form for comparisons. */
  readonly person: { readonly email?: string | undefined; readonly phone?: string | undefined };
  /** Whether the row holds a refusal, and cannot be sent to anybody. */
  readonly isUnnamedRefusal: boolean;
}

export function readRow(plan: FilePlan, row: CsvRow): ReadRow {
  const fields = readFields(plan, row);
  const consent = readWords(plan, row);
  const person = personIn(fields, row);
  const isNamed = person.email !== undefined || (person.phone !== undefined && !fields.cells.has("email"));
  // Of a list of people who left, an address that cannot be read is somebody's, and a line without one is nobody's.
  const isSomebodys = fields.cells.has("email") || fields.cells.has("phone");
  const mayBeRefusal = row.shapeIssue
    ? row.cells.some((cell) => isRefusalAnywhere(plan, cell))
    : mayRefuse(isSomebodys ? consent.words : consent.ofCells);
  return {
    file: plan.file.path,
    number: row.number,
    source: row,
    ...fields,
    ...consent,
    ...(row.shapeIssue ? { cells: new Map(), issues: [row.shapeIssue], notes: [] } : {}),
    person,
    others: [...namesOf(plan, row, fields)].filter((name) => name !== person.email && name !== person.phone),
    isUnnamedRefusal: !isNamed && mayBeRefusal,
  };
}

/** The row's external id, the addresses and numbers in all cells of the person, and the end of a number that is not sent. */
function namesOf(plan: FilePlan, row: CsvRow, { cells, contact }: RowFields): Set<string> {
  // The cells of a line that was cut or has more may stand under wrong headings.
  const own = row.cells.filter((_, index) => row.shapeIssue || plan.columns[index]?.isOfAnother !== true);
  const unsent = contact.phone === undefined ? (cells.get("phone")?.text ?? "") : "";
  return new Set([...own.flatMap(namesIn), ...idIn(contact), ...endOf(unsent)]);
}

function personIn({ contact: { email, phone } }: RowFields, { shapeIssue }: CsvRow): ReadRow["person"] {
  const isWhole = email !== undefined && isWholeAddress(email);
  return shapeIssue ? {} : { email: isWhole ? comparableEmail(email) : undefined, phone };
}

/** Whether the cell would be a refusal under any heading of the file. */
function isRefusalAnywhere({ columns }: FilePlan, cell: string): boolean {
  const mayMean = ({ use }: Column) =>
    typeof use === "object" &&
    meaningsIn(use, wordOf(cell))?.some((meaning) => Object.values(meaning).includes("UNSUBSCRIBED"));
  return cell.trim() !== "" && (refusedIn(cell).length > 0 || columns.some(mayMean));
}

function readFields(plan: FilePlan, row: CsvRow): RowFields {
  const fields: RowFields = { contact: {}, cells: new Map(), issues: [], notes: [] };
  const properties: Record<string, string> = {};
  // The address comes first.
  for (const field of contactFields) addField(fields, properties, { field, plan, row });
  for (const { use, index, property } of plan.columns) {
    const text = row.cell(index);
    // A day is more than its meaning.
    if (text !== undefined && (use === "property" || (typeof use === "object" && isMoment(text))))
      properties[property] = text;
    // Any other word holds the row back.
    if (use === "double_opt_in" && text !== undefined && wordOf(text) === "true")
      fields.contact.double_opt_in = true;
  }
  if (!fields.cells.has("email") && !fields.cells.has("phone"))
    fields.issues.push({ field: "email", message: "required: an email or a phone" });
  if (Object.keys(properties).length > 0) fields.contact.custom_properties = properties;
  return fields;
}

/**
 * Of several columns of a field the first that is not blank counts, or the first valid number. Further values and invalid
 * ones become custom properties, so that they do not block the row and its opt-outs; what identifies the person blocks it.
 */
function addField(
  fields: RowFields,
  properties: Record<string, string>,
  { field, plan, row }: { field: ContactField; plan: FilePlan; row: CsvRow },
): void {
  const { issues, notes } = fields;
  const isOfPerson = field === "email" || field === "phone";
  const cells = (plan.fields.get(field) ?? []).flatMap((column) => {
    const text = row.cell(column.index);
    const isNone = text === undefined || (isOfPerson && isBlank(wordOf(text)));
    return isNone ? [] : [{ column, text, parsed: parseValue(field, text, plan) }];
  });
  const valid = field === "phone" ? cells.find(({ parsed }) => "value" in parsed) : undefined;
  const used = valid ?? cells[0];
  if (used === undefined) return;
  const { column, text, parsed } = used;
  fields.cells.set(field, used);
  if (field === "email" && "value" in parsed && parsed.value !== text.toLowerCase())
    notes.push({ remark: `${shownHeading(column)} holds more than the address, which alone is sent` });
  if ("value" in parsed) fields.contact = { ...fields.contact, [field]: parsed.value };
  else if (field === "email" || (field === "phone" && fields.contact.email === undefined))
    issues.push({ field, message: parsed.problem });
  else {
    properties[column.property] = text;
    const remark = sentAsProperty(column, `no ${field} that can be sent`);
    notes.push({ remark, issue: { field, message: parsed.problem } });
  }
  for (const other of cells) {
    const isSame = "value" in other.parsed && other.parsed.value === fields.contact[field];
    if (!isSame && other.text !== text) properties[other.column.property] = other.text;
  }
}

/** The remark of a cell that is no value of its field. */
export function sentAsProperty(column: Column, what: string): string {
  return `${shownHeading(column)} holds ${what}, and is sent as the custom property ${column.property}`;
}

function parseValue(field: ContactField, text: string, { layout }: FilePlan): ParsedValue {
  if (field === "email") return parseEmail(text);
  // Brevo writes a number with its country code, and without the plus.
  if (field === "phone")
    return parsePhone(layout === "Brevo" && /^[1-9]\d{7,14}$/.test(text) ? `+${text}` : text);
  const value = field === "gender" ? text.toUpperCase() : field === "dob" ? parseDay(text) : text;
  const { success, error } = v1ContactFieldsSchema.shape[field].safeParse(value);
  return success ? { value } : { problem: `${error.issues[0]?.message}: ${quoted(value)}` };
}
