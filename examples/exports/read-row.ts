import { createHash } from "node:crypto";
import type { Channel, ConsentEvidence, Contact, RowIssue } from "./contact.ts";
import type { CsvRow } from "./csv-row.ts";
import type { Column, FilePlan } from "./file-plan.ts";
import { type ConsentCell, RowConsent, type RowSaid } from "./row-consent.ts";
import { evidenceIn } from "./row-evidence.ts";
import { type ColumnCell, readFields } from "./row-fields.ts";
import { isMoment } from "./words.ts";

/** One row of a file: the contact without consent, the consent, and the issues. */
export interface ReadRow {
  /** The path as it was given. */
  readonly file: string;
  readonly number: number;
  readonly source: CsvRow;
  readonly contact: Contact;
  /** The cell of each field, for invalid values. */
  readonly cells: ReadonlyMap<string, ColumnCell>;
  /** The row's other addresses and numbers, as `identifiersIn` finds them: of further columns, and of those left out. */
  readonly others: readonly string[];
  readonly said: RowSaid;
  readonly consentCells: readonly ConsentCell[];
  /** The evidence of consent in the file. */
  readonly evidence: Readonly<Record<Channel, ConsentEvidence>>;
  readonly issues: readonly RowIssue[];
  /** Remarks on unexpected changes. Without values, so that equal remarks can be counted. */
  readonly remarks: readonly string[];
}

/** Reads a row. */
export function readRow(plan: FilePlan, row: CsvRow): ReadRow {
  const fields = readFields(plan, row);
  const consent = new RowConsent(plan);
  const properties: Record<string, string> = { ...fields.properties };
  for (const column of plan.columns) {
    const text = row.cell(column.index);
    // A report writes the note of such a line, too, and in its column.
    if (!row.isMisshapen || column.use.kind === "import note") consent.read(column, text);
    if (text !== undefined && isProperty(column, text)) properties[column.property] = text;
  }
  const { provider } = plan;
  return {
    file: plan.file.path,
    number: row.number,
    source: row,
    contact: {
      ...fields.contact,
      ...(provider === undefined ? {} : { source: provider }),
      ...(Object.keys(properties).length === 0 ? {} : { custom_properties: properties }),
    },
    cells: fields.cells,
    others: fields.others,
    said: consent.said(),
    consentCells: consent.cells,
    evidence: evidenceIn(plan, row),
    issues: [...row.shapeIssues(), ...fields.issues, ...birthdayIssues(plan, row)],
    remarks: [...fields.remarks, ...consent.remarks()],
  };
}

/** A day is more than its meaning, so it is kept as a custom property. */
function isProperty({ use }: Column, text: string): boolean {
  return use.kind === "property" || use.kind === "open" || (use.kind === "consent" && isMoment(text));
}

/** The id of a row: a hash of its cells. */
export function rowId({ contact, source }: Pick<ReadRow, "contact" | "source">): string {
  return createHash("sha256")
    .update(JSON.stringify([contact.source, source.cells]))
    .digest("hex")
    .slice(0, 32);
}

// Mailchimp's birthday is a month and a day.
function birthdayIssues({ columns, provider }: FilePlan, row: CsvRow): RowIssue[] {
  const column = columns.find(({ compact, use }) => use.kind === "property" && compact === "birthday");
  const birthday = column && provider === "mailchimp" ? row.cell(column.index) : undefined;
  if (birthday === undefined || isDayOfAnyYear(birthday)) return [];
  return [
    {
      field: "Birthday",
      message: `${JSON.stringify(birthday)} is not a month and day (MM/DD) that a year has`,
    },
  ];
}

function isDayOfAnyYear(text: string): boolean {
  const [, month, day] = /^(\d{2})\/(\d{2})$/.exec(text) ?? [];
  if (month === undefined || day === undefined) return false;
  // 2000 was a leap year, so the 29th of February counts.
  const date = new Date(Date.UTC(2000, Number(month) - 1, Number(day)));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}
