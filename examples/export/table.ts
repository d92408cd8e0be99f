import type { Snapshot, SnapshotContact } from "audience-sdk/snapshot";
import { replaceFileBy } from "../../src/files/replacement.ts";
import { csvLine } from "../exports/csv-format.ts";

const consentColumns = [
  "id",
  "email",
  "phone",
  "email_opt_in",
  "phone_opt_in",
  "is_suppressed",
  "updated",
] as const;

// Excel takes a file for UTF-8 by this alone.
const byteOrderMark = "\uFEFF";

/** Writes the contacts of a snapshot as CSV, readable by its owner alone, and replaces the file in one step. */
export async function writeTable(file: string, snapshot: Snapshot): Promise<void> {
  await replaceFileBy(file, tableOf(snapshot));
}

async function* tableOf(snapshot: Snapshot): AsyncGenerator<string> {
  const columns = await columnsOf(snapshot);
  yield byteOrderMark + csvLine(columns);
  for await (const contact of snapshot) {
    const values = valuesOf(contact);
    yield csvLine(columns.map((column) => textOf(values.get(column))));
  }
}

/** The known columns first, then each further attribute that a contact has. */
async function columnsOf(snapshot: Snapshot): Promise<string[]> {
  const columns = new Set<string>(consentColumns);
  for await (const contact of snapshot) for (const name of valuesOf(contact).keys()) columns.add(name);
  return [...columns];
}

/** The cells of a contact; each custom property has a column of its own. */
function valuesOf({ attributes = {}, ...contact }: SnapshotContact): Map<string, unknown> {
  const { custom_properties: properties, ...others } = attributes;
  const own = Object.entries(properties ?? {}).map(
    ([name, value]) => [`custom_properties.${name}`, value] as const,
  );
  return new Map<string, unknown>([...Object.entries(others), ...own, ...Object.entries(contact)]);
}

/** Numbers and flags, and objects as they came. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return (value ?? null) === null ? "" : JSON.stringify(value);
}
