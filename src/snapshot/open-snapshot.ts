import { closeSync, constants, fstatSync } from "node:fs";
import { resolve } from "node:path";
import { readLines } from "../files/lines.ts";
import { openRegular } from "../files/regular-file.ts";
import { parseOption } from "../schema/parse-options.ts";
import { ContactIndex, entriesOf } from "./contact-index.ts";
import { shownConsents } from "./contact.ts";
import {
  damaged,
  fileError,
  fileOption,
  type FinishedHeading,
  parseContact,
  parseHeading,
} from "./snapshot-file.ts";
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
  const bounds: number[] = [];
  const entries: number[] = [];
  let heading: FinishedHeading | undefined;
  let showsConsent = false;
  for await (const { text, start } of readLines(handle)) {
    if (!heading) {
      heading = parseHeading(text, file);
      continue;
    }
    const contact = parseContact(text, file);
    showsConsent ||= shownConsents(contact).some((value) => value !== undefined);
    entries.push(...entriesOf(contact, bounds.length));
    bounds.push(start);
  }
  const found = heading ?? parseHeading(undefined, file);
  if (bounds.length !== found.size)
    throw damaged(file, `it has ${bounds.length} contacts, and its heading says ${found.size}`);
  bounds.push(fstatSync(handle).size);
  return { file, handle, heading: found, index: new ContactIndex(bounds, entries), showsConsent };
}
