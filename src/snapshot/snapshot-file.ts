// The file of a snapshot: NDJSON, a heading and then a line for each contact. A read that is under way has also a line after
// each page (`part-file.ts`).
import { constants, existsSync, readSync } from "node:fs";
import * as z from "zod";
import { ConfigurationError } from "../errors.ts";
import { refusalOf } from "../files/lock.ts";
import { type Line, openRegular, type RegularFile } from "../files/regular-file.ts";
import { targetSchema } from "../organization.ts";
import { firstIndex } from "../values/binary-search.ts";
import { withoutPrototype } from "../values/predicates.ts";
import { snapshotKeysOf, type ReadContact, showsOptIn, type SnapshotContact } from "./snapshot-contact.ts";

/** The first line of a read that is under way. */
export const headingSchema = z.object({
  /** The version of the format. */
  audience_snapshot: z.literal(1),
  /** When the read of the snapshot began: each contact was seen then or later. */
  readAt: z.iso.datetime(),
  fields: z.enum(["consent", "all"]),
  target: targetSchema,
});

export type Heading = z.infer<typeof headingSchema>;

/** The first line of a snapshot. */
const finishedHeadingSchema = headingSchema.extend({ size: z.int().min(0), complete: z.boolean() });

export type FinishedHeading = z.infer<typeof finishedHeadingSchema>;

/** More contacts than can be read in a day. */
const mostContacts = 2 ** 24;

/**
 * A snapshot's file, open to be read. Its index keeps numbers alone, eight bytes for each key of a contact: the keys of the
 * lines that they name must be compared.
 */
export class SnapshotFile {
  readonly file: RegularFile;
  readonly heading: FinishedHeading;
  hasConsent = false;
  /** The start of each contact's line, and the end of the last line. */
  #lineBounds = new Float64Array();
  /** The hash of each contact's key and the number of its line, in one number; sorted. */
  #keyIndex = new Float64Array();

  private constructor(file: RegularFile, heading: FinishedHeading) {
    this.file = file;
    this.heading = heading;
  }

  /** Reads a snapshot's file once, for its index. Throws if it is no snapshot, damaged, or of another version. */
  static async open(path: string): Promise<SnapshotFile> {
    let file: RegularFile | undefined;
    try {
      file = openRegular(path, constants.O_RDONLY, { followsLink: true });
      const snapshotFile = new SnapshotFile(file, await readHeading(file));
      await snapshotFile.#buildIndex();
      return snapshotFile;
    } catch (error) {
      file?.close();
      throw refusalOf(error, "snapshot", path, ConfigurationError);
    }
  }

  async #buildIndex(): Promise<void> {
    const bounds: number[] = [];
    const keyIndex: number[] = [];
    let contactsEnd = 0;
    for await (const { contact, start, end } of this.contacts()) {
      this.hasConsent ||= showsOptIn(contact);
      for (const key of snapshotKeysOf(contact)) keyIndex.push(keyHash(key) * mostContacts + bounds.length);
      bounds.push(start);
      contactsEnd = end;
    }
    this.#lineBounds = Float64Array.from([...bounds, contactsEnd]);
    this.#keyIndex = Float64Array.from(keyIndex).sort();
  }

  /**
   * Every contact of the file, when its page was asked for, and its line. The file may be closed between two contacts. Throws
   * after the last one if these are not all: also an open file may be cut off.
   */
  async *contacts(): AsyncGenerator<ReadContact & Line, void, undefined> {
    this.#checkOpen();
    let count = 0;
    for await (const line of this.file.lines()) {
      // The heading.
      if (line.start === 0) continue;
      yield { ...line, ...parseContact(line.text, this.file.path) };
      this.#checkOpen();
      count += 1;
    }
    const { size } = this.heading;
    if (this.file.rest.length > 0)
      throw damagedSnapshot(this.file.path, "its last line has no end, or is longer than a line may be");
    if (count !== size)
      throw damagedSnapshot(this.file.path, `it has ${count} contacts, and its heading says ${size}`);
  }

  contactsWithKeys(keys: readonly string[]): SnapshotContact[] {
    this.#checkOpen();
    const contacts = new Map<string, SnapshotContact>();
    for (const key of keys) {
      const leastEntry = keyHash(key) * mostContacts;
      let at = firstIndex(this.#keyIndex, (entry) => entry < leastEntry);
      // Other keys may have the same hash.
      for (; this.#keyIndex[at]! < leastEntry + mostContacts; at++) {
        const line = this.#keyIndex[at]! - leastEntry;
        const start = this.#lineBounds[line]!;
        const bytes = Buffer.alloc(this.#lineBounds[line + 1]! - start - 1);
        readSync(this.file.handle, bytes, 0, bytes.length, start);
        const { contact } = parseContact(bytes.toString(), this.file.path);
        if (snapshotKeysOf(contact).includes(key)) contacts.set(contact.id, contact);
      }
    }
    return [...contacts.values()];
  }

  #checkOpen(): void {
    if (!this.file.isOpen) throw new ConfigurationError("The snapshot is closed.");
  }
}

/** 29 bits of the FNV-1a hash of a contact's key: with the number of a line they fill a number. */
function keyHash(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return hash >>> 3;
}

/** Reads the heading. Throws if the file is no snapshot, or one of another version. */
async function readHeading(file: RegularFile): Promise<FinishedHeading> {
  // A file without a line is no snapshot, either.
  const text = (await file.lines().next()).value?.text ?? "";
  const heading = parseLine(finishedHeadingSchema, text);
  if (heading) return heading;
  const version = /^\{"audience_snapshot":(\d+)/.exec(text)?.[1];
  if (version === undefined || version === "1")
    throw new ConfigurationError(`${file.path} is not a snapshot, and is left unchanged. Name another file.`);
  throw new ConfigurationError(
    `${file.path} is a snapshot of another version (format ${version}, this one reads 1), and is left unchanged. ` +
      "Name another file, or read it with the version of audience-sdk that wrote it.",
  );
}

/** The heading of the snapshot's file, if there is a file that is not empty. */
export async function existingHeading(path: string): Promise<FinishedHeading | undefined> {
  if (!existsSync(path)) return undefined;
  using file = openRegular(path, constants.O_RDONLY);
  return file.opened.size === 0 ? undefined : await readHeading(file);
}

/** The value of a snapshot's line; undefined if it is no JSON of this form. */
export function parseLine<Value extends object>(schema: z.ZodType<Value>, text: string): Value | undefined {
  try {
    const parsed = schema.safeParse(withoutPrototype(JSON.parse(text) as object));
    return parsed.success ? withoutPrototype(parsed.data) : undefined;
  } catch {
    return undefined;
  }
}

const contactLineSchema = z.looseObject({ id: z.string(), readAt: z.iso.datetime() });

export function contactLine({ contact, readAt }: ReadContact): string {
  return `${JSON.stringify({ ...contact, readAt })}\n`;
}

export function parseContact(text: string, file: string): ReadContact {
  const line = parseLine(contactLineSchema, text);
  if (!line) throw damagedSnapshot(file, "a line of it is no contact");
  const { readAt, ...contact } = line;
  return { contact, readAt };
}

function damagedSnapshot(file: string, reason: string): ConfigurationError {
  return new ConfigurationError(
    `The snapshot ${file} is damaged: ${reason}. Restore it from a copy, or read another one.`,
  );
}
