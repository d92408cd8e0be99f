import { closeSync, constants, fstatSync } from "node:fs";
import { resolve } from "node:path";
import { readLines } from "../files/lines.ts";
import { openRegular } from "../files/regular-file.ts";
import { parseOption } from "../schema/parse-options.ts";
import { ContactIndex, entriesOf } from "./contact-index.ts";
import { showsConsent } from "./contact.ts";
import { damaged, fileError, fileOption, parseContact, readHeading } from "./snapshot-file.ts";
import { type OpenFile, Snapshot } from "./snapshot.ts";

/**
 * Opens a snapshot that `readSnapshot` has written. It reads the file once, and keeps 32 bytes of each contact in memory.
 *
 * ```ts
 * using yesterday = await openSnapshot("yesterday.ndjson");
 * ```
 *
 * @throws ConfigurationError if the file is no snapshot, damaged, or of another version.
 */
export async function openSnapshot(file: string): Promise<Snapshot> {
  parseOption(fileOption, file, "The file of openSnapshot");
  let handle: number | undefined;
  try {
    handle = openRegular(resolve(file), constants.O_RDONLY, { followsLink: true });
    return new Snapshot(await readContacts(file, handle));
  } catch (error) {
    if (handle !== undefined) closeSync(handle);
    throw fileError(error, file);
  }
}

async function readContacts(file: string, handle: number): Promise<OpenFile> {
  const { heading, begin } = await readHeading(handle, file);
  const bounds: number[] = [];
  const entries: number[] = [];
  let hasConsent = false;
  for await (const { text, start } of readLines(handle, { from: begin })) {
    const { contact } = parseContact(text, file);
    hasConsent ||= showsConsent(contact);
    entries.push(...entriesOf(contact, bounds.length));
    bounds.push(start);
  }
  if (bounds.length !== heading.size)
    throw damaged(file, `it has ${bounds.length} contacts, and its heading says ${heading.size}`);
  bounds.push(fstatSync(handle).size);
  return { file, handle, heading, begin, index: new ContactIndex(bounds, entries), hasConsent };
}
