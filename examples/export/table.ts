import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import type { Snapshot, SnapshotContact } from "audience-sdk/snapshot";

const consentColumns = [
  "id",
  "email",
  "phone",
  "email_opt_in",
  "phone_opt_in",
  "is_suppressed",
  "updated",
] as const;

const chunkLength = 65_536;
// Excel takes a file for UTF-8 by this alone.
const byteOrderMark = "\uFEFF";

/** Writes the contacts of a snapshot as CSV (RFC 4180), readable by its owner alone, and replaces the file in one step. */
export async function writeTable(file: string, snapshot: Snapshot): Promise<void> {
  const columns = await columnsOf(snapshot);
  const written = `${file}.new`;
  const handle = openSync(written, "w", 0o600);
  try {
    let chunk = byteOrderMark + rowOf(columns);
    for await (const contact of snapshot) {
      const values = valuesOf(contact);
      chunk += rowOf(columns.map((column) => values.get(column)));
      if (chunk.length < chunkLength) continue;
      writeSync(handle, chunk);
      chunk = "";
    }
    writeSync(handle, chunk);
    fsyncSync(handle);
  } catch (error) {
    rmSync(written, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
  renameSync(written, file);
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

function rowOf(values: readonly unknown[]): string {
  return `${values.map(cellOf).join(",")}\r\n`;
}

function cellOf(value: unknown): string {
  // Numbers and flags, and objects as they came.
  const text = typeof value === "string" ? value : (value ?? null) === null ? "" : JSON.stringify(value);
  // A spreadsheet would run it as a formula.
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",;\r\n\t]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
