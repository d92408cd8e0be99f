import { v1ContactSchema } from "audience-sdk/schemas";
import type { RowIssue } from "./csv-row.ts";
import type { ImportedRow } from "./imported-row.ts";
import { withStrictestConsent } from "./strictest-consent.ts";

/** A row that is not sent, and everything that is wrong with it. */
export interface InvalidRow {
  readonly row: ImportedRow;
  readonly issues: readonly RowIssue[];
}

/** The rows that can be sent, and those that cannot. */
export interface CheckedRows {
  readonly valid: readonly ImportedRow[];
  readonly invalid: readonly InvalidRow[];
}

/** What else is wrong with a row, and not seen by the rules of a v1 contact. */
export type FurtherIssues = (row: ImportedRow) => readonly RowIssue[];

/** Checks every row, sends nothing. What comes back carries the strictest consent of its address and number. */
export function checkRows(
  rows: readonly ImportedRow[],
  furtherIssues: FurtherIssues = () => [],
): CheckedRows {
  const contacts = withStrictestConsent(rows.map((row) => row.contact));
  const valid: ImportedRow[] = [];
  const invalid: InvalidRow[] = [];
  const addressOfPhone = new Map<string, ImportedRow>();
  for (const [index, read] of rows.entries()) {
    const row = { ...read, contact: contacts[index] ?? read.contact };
    const ownIssues = [...row.issues, ...schemaIssues(row), ...furtherIssues(row)];
    // Only a row that is sent can be written over.
    const issues = ownIssues.length > 0 ? ownIssues : sharedPhoneIssues(row, addressOfPhone);
    if (issues.length > 0) invalid.push({ row, issues });
    else valid.push(row);
  }
  return { valid, invalid };
}

function schemaIssues(row: ImportedRow): RowIssue[] {
  const checked = v1ContactSchema.safeParse(row.contact);
  if (checked.success) return [];
  const values = new Map<string, unknown>(Object.entries(row.contact));
  return checked.error.issues.map(({ path, message }) => {
    const field = path.join(".") || "row";
    const value = values.get(field);
    return { field, message: typeof value === "string" ? `${message}: ${quoted(value)}` : message };
  });
}

function quoted(value: string): string {
  return JSON.stringify(value.length > 30 ? `${value.slice(0, 30)}…` : value);
}

// The service takes two rows with one number for one contact ("POST /api/v1/customer/create"), so two people who share
// a telephone would be written over each other.
function sharedPhoneIssues(row: ImportedRow, addressOfPhone: Map<string, ImportedRow>): RowIssue[] {
  const { email, phone } = row.contact;
  if (email === undefined || phone === undefined) return [];
  const first = addressOfPhone.get(phone) ?? row;
  addressOfPhone.set(phone, first);
  if (first.contact.email === email) return [];
  return [
    {
      field: "phone",
      message: `is the number of ${first.contact.email} too: the service would take both for one contact`,
    },
  ];
}
