import { v1ContactSchema } from "audience-sdk/schemas";
import { quoted } from "./contact-values.ts";
import type { Contact, RowIssue } from "./contact.ts";

/** The issues of a contact by the documented rules, with the values. */
export function contactIssues(contact: Contact): RowIssue[] {
  const checked = v1ContactSchema.safeParse(contact);
  if (checked.success) return [];
  const values = new Map<string, unknown>(Object.entries(contact));
  return checked.error.issues.map(({ path, message }) => {
    const field = path.map(String).join(".") || "row";
    const value = values.get(field);
    return { field, message: typeof value === "string" ? `${message}: ${quoted(value)}` : message };
  });
}

/** Issues in one line. */
export function inOneLine(issues: readonly RowIssue[]): string {
  return issues.map(({ field, message }) => `${field}: ${message}`).join("; ");
}

/** The first issue of each field: an invalid cell is not also reported as missing. */
export function firstOfEachField(issues: readonly RowIssue[]): RowIssue[] {
  return issues.filter(({ field }, index) => issues.findIndex((other) => other.field === field) === index);
}
