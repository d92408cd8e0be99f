import { createHash } from "node:crypto";
import type { Channel, Contact, RowIssue } from "./contact.ts";
import type { CsvRow } from "./csv-row.ts";
import type { Column, FilePlan } from "./file-plan.ts";
import { refusalIn } from "./floor.ts";
import { comparableEmail, isWholeAddress, type NumberEnd } from "./identifiers.ts";
import { type ColumnCell, readFields, type RowFields } from "./row-fields.ts";
import {
  type ConsentCell,
  mayRefuse,
  meaningsIn,
  type RefusingCell,
  RowWords,
  type Words,
} from "./row-words.ts";
import { isMoment, wordOf } from "./words.ts";

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
    issues: row.isMisshapen ? row.shapeIssues() : [...fields.issues, ...birthdayIssues(plan, row)],
    remarks: row.isMisshapen ? [] : [...fields.remarks, ...consent.remarks()],
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

/** The id of a row: a hash of its cells. */
export function rowId({ contact, source }: Pick<ReadRow, "contact" | "source">): string {
  return createHash("sha256")
    .update(JSON.stringify([contact.source, source.cells]))
    .digest("hex")
    .slice(0, 32);
}

// Mailchimp's birthday is a month and a day.
function birthdayIssues({ columns, provider }: FilePlan, row: CsvRow): RowIssue[] {
  const column = columns.find(({ heading, use }) => use.kind === "property" && heading === "Birthday");
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
