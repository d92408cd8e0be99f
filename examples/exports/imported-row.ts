import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { noteHeadings, type CsvRow, type RowIssue } from "./csv-row.ts";
import { snakeCase } from "./custom-properties.ts";
import { isKlaviyoExport, klaviyoContact } from "./klaviyo.ts";
import { isMailchimpExport, mailchimpContact, mailchimpSection } from "./mailchimp.ts";
import type { ConsentEvidence, Contact, MappedContact } from "./mapped-contact.ts";
import { isPlainFile, plainContact } from "./plain.ts";
import { CsvFileError, readCsv } from "./read-csv.ts";
import { notedIssues, withConsentAtMost } from "./report-note.ts";

/** One row of an export: where it stands, the contact it holds, and what could not be read. */
export interface ImportedRow {
  readonly file: string;
  readonly number: number;
  /** The same for the same row, whenever and wherever it is read: derived from the layout and the cells. */
  readonly id: string;
  readonly contact: Contact;
  readonly evidence: NonNullable<MappedContact["evidence"]>;
  readonly issues: readonly RowIssue[];
  /** The row as it stands in the file. */
  readonly source: CsvRow;
}

/** One file of an export, and what it is. */
export interface ExportFile {
  /** The path below the folder. */
  readonly name: string;
  readonly kind: string;
  readonly rows: readonly ImportedRow[];
}

/** Reads every CSV file in a folder and the folders in it, by name. Which layout a file has, its headings tell. */
export async function readExports(folder: string): Promise<ExportFile[]> {
  const names = (await namesIn(folder)).filter((name) => name.toLowerCase().endsWith(".csv"));
  if (names.length === 0) throw new CsvFileError(`${folder}: holds no CSV file.`);
  return await Promise.all(names.toSorted().map((name) => readExport(folder, name)));
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder, { recursive: true });
  } catch (cause) {
    throw new CsvFileError(`${folder}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Reads one CSV file. What its headings tell of nothing that is known is a `CsvFileError`. */
export async function readExport(folder: string, name: string): Promise<ExportFile> {
  const { headings, rows } = await readCsv(join(folder, name));
  const { kind, map } = layoutOf(name, headings);
  return { name, kind, rows: rows.map((row) => importedRow(name, kind, row, map(row))) };
}

function layoutOf(
  name: string,
  headings: readonly string[],
): { kind: string; map: (row: CsvRow) => MappedContact } {
  if (isKlaviyoExport(headings)) return { kind: "klaviyo", map: klaviyoContact };
  if (isMailchimpExport(headings)) {
    const section = mailchimpSection(basename(name));
    return { kind: `mailchimp ${section}`, map: (row) => mailchimpContact(row, section) };
  }
  if (isPlainFile(headings)) return { kind: "plain headings", map: plainContact };
  throw new CsvFileError(
    `${name}: has the headings of no file that can be read. It begins with ${headings.slice(0, 4).join(", ")}; ` +
      "it needs a column email or phone.",
  );
}

function importedRow(file: string, kind: string, row: CsvRow, mapped: MappedContact): ImportedRow {
  const id = createHash("sha256")
    .update(JSON.stringify([kind, row.cells]))
    .digest("hex")
    .slice(0, 32);
  const note = row.notes.get(noteHeadings.note);
  return {
    file,
    number: row.number,
    id,
    contact: withConsentAtMost(mapped.contact, note),
    evidence: evidenceIn(row, mapped.evidence),
    issues: [...row.shapeIssues(), ...mapped.issues, ...notedIssues(mapped.contact, note)],
    source: row,
  };
}

/** What the layout itself tells of a consent; a column that was added for it comes first. */
function evidenceIn(
  row: CsvRow,
  { email = {}, phone = {} }: MappedContact["evidence"] = {},
): ImportedRow["evidence"] {
  const cell = (name: string) =>
    row.cell(row.headings.find((heading) => snakeCase(heading) === name) ?? name);
  const complete = (own: ConsentEvidence): ConsentEvidence => ({
    createdAt: cell("consent_created_at") ?? own.createdAt,
    ip: cell("consent_ip") ?? own.ip,
    source: cell("consent_source") ?? own.source,
  });
  return { email: complete(email), phone: complete(phone) };
}
