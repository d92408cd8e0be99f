// The file of a snapshot: NDJSON, a heading and then a line for each contact. A read that is under way has also a line after
// each page (`part-file.ts`).
import { closeSync, constants, existsSync, fstatSync, readSync } from "node:fs";
import { resolve } from "node:path";
import * as z from "zod";
import { ConfigurationError } from "../errors.ts";
import { readLines } from "../files/lines.ts";
import { refusalOf } from "../files/lock.ts";
import { openRegular } from "../files/regular-file.ts";
import { targetSchema } from "../organization.ts";
import { keysOf, type ReadContact, showsOptIn, type SnapshotContact } from "./snapshot-contact.ts";

/** The first line of a read that is under way. */
export const headingSchema = z.object({
  /** The version of the format. */
  audience_snapshot: z.literal(1),
  /** When it began: each contact was seen then or later. */
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
 * A snapshot's file, open to be read. It keeps numbers alone, eight bytes for each key of a contact: the keys of the lines that
 * they name must be compared.
 */
export class SnapshotFile {
  readonly path: string;
  readonly heading: FinishedHeading;
  hasConsent = false;
  readonly #handle: number;
  /** The start of its contacts. */
  readonly #begin: number;
  /** The start of each line, and the end of the last one. */
  #bounds = new Float64Array();
  /** The hash of a key and the place of its contact, in one number; sorted. */
  #index = new Float64Array();
  #isClosed = false;

  private constructor(path: string, handle: number, { heading, begin }: ReadHeading) {
    this.path = path;
    this.heading = heading;
    this.#handle = handle;
    this.#begin = begin;
  }

  /** Reads it once, for its index. Throws if it is none, damaged, or of another version. */
  static async open(path: string): Promise<SnapshotFile> {
    let handle: number | undefined;
    try {
      handle = openRegular(resolve(path), constants.O_RDONLY, { followsLink: true });
      const file = new SnapshotFile(path, handle, await readHeading(handle, path));
      await file.#buildIndex();
      return file;
    } catch (error) {
      if (handle !== undefined) closeSync(handle);
      throw refusalOf(error, "snapshot", path, ConfigurationError);
    }
  }

  async #buildIndex(): Promise<void> {
    const bounds: number[] = [];
    const index: number[] = [];
    let length = this.#begin;
    for await (const { text, start, end } of readLines(this.#handle, { from: this.#begin })) {
      const { contact } = parseContact(text, this.path);
      this.hasConsent ||= showsOptIn(contact);
      for (const key of keysOf(contact)) index.push(hashOf(key) * mostContacts + bounds.length);
      bounds.push(start);
      length = end;
    }
    const { size } = this.heading;
    if (length !== fstatSync(this.#handle).size)
      throw damaged(this.path, "its last line has no end, or is longer than a line may be");
    if (bounds.length !== size)
      throw damaged(this.path, `it has ${bounds.length} contacts, and its heading says ${size}`);
    this.#bounds = Float64Array.from([...bounds, length]);
    this.#index = Float64Array.from(index).sort();
  }

  /** Every contact, and when its page was asked for. The file may be closed between two of them. */
  async *contacts(): AsyncGenerator<ReadContact, void, undefined> {
    this.#checkOpen();
    for await (const { text } of readLines(this.#handle, { from: this.#begin })) {
      yield parseContact(text, this.path);
      this.#checkOpen();
    }
  }

  withKeys(keys: readonly string[]): SnapshotContact[] {
    this.#checkOpen();
    const found = new Map<string, SnapshotContact>();
    for (const key of keys) {
      for (const { start, end } of this.#linesOf(key)) {
        const bytes = Buffer.alloc(end - start - 1);
        readSync(this.#handle, bytes, 0, bytes.length, start);
        const { contact } = parseContact(bytes.toString(), this.path);
        if (keysOf(contact).includes(key)) found.set(contact.id, contact);
      }
    }
    return [...found.values()];
  }

  /** The lines of the contacts that have this key, in the order of the file; a few others may be among them. */
  *#linesOf(key: string): Generator<{ readonly start: number; readonly end: number }> {
    const least = hashOf(key) * mostContacts;
    for (let at = this.#firstFrom(least); this.#index[at]! < least + mostContacts; at++) {
      const place = this.#index[at]! - least;
      yield { start: this.#bounds[place]!, end: this.#bounds[place + 1]! };
    }
  }

  /** The place of the first key that is not less than this. */
  #firstFrom(least: number): number {
    let [from, to] = [0, this.#index.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.#index[middle]! < least) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  close(): void {
    if (!this.#isClosed) closeSync(this.#handle);
    this.#isClosed = true;
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new ConfigurationError("The snapshot is closed.");
  }
}

/** 29 bits of FNV-1a: with a place they fill a number. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return hash >>> 3;
}

interface ReadHeading {
  readonly heading: FinishedHeading;
  readonly begin: number;
}

/** Throws if the file is none, or one of another version. */
async function readHeading(handle: number, file: string): Promise<ReadHeading> {
  // Without a line it is no snapshot, either.
  const { text = "", end: begin = 0 } = (await readLines(handle).next()).value ?? {};
  const heading = parseLine(finishedHeadingSchema, text);
  if (heading) return { heading, begin };
  const version = /^\{"audience_snapshot":(\d+)/.exec(text)?.[1];
  if (version === undefined || version === "1")
    throw new ConfigurationError(`${file} is not a snapshot, and is left unchanged. Name another file.`);
  throw new ConfigurationError(
    `${file} is a snapshot of another version (format ${version}, this one reads 1), and is left unchanged. ` +
      "Name another file, or read it with the version of audience-sdk that wrote it.",
  );
}

/** The heading of the file, if there is one that is not empty. */
export async function existingHeading(file: string): Promise<FinishedHeading | undefined> {
  if (!existsSync(file)) return undefined;
  const handle = openRegular(file, constants.O_RDONLY);
  try {
    return fstatSync(handle).size === 0 ? undefined : (await readHeading(handle, file)).heading;
  } finally {
    closeSync(handle);
  }
}

/** The value of a line; undefined if it is no JSON of this form. */
export function parseLine<Value>(schema: z.ZodType<Value>, text: string): Value | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const contactSchema = z.looseObject({ id: z.string(), readAt: z.iso.datetime() });

export function contactLine({ contact, readAt }: ReadContact): string {
  return `${JSON.stringify({ ...contact, readAt })}\n`;
}

export function parseContact(text: string, file: string): ReadContact {
  const line = parseLine(contactSchema, text);
  if (!line) throw damaged(file, "a line of it is no contact");
  const { readAt, ...contact } = line;
  return { contact, readAt };
}

function damaged(file: string, reason: string): ConfigurationError {
  return new ConfigurationError(
    `The snapshot ${file} is damaged: ${reason}. Restore it from a copy, or read another one.`,
  );
}
