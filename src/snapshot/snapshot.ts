import { closeSync, constants, fstatSync, readSync } from "node:fs";
import { resolve } from "node:path";
import * as z from "zod";
import type { ConsentSnapshot } from "../bulk/consent-snapshot.ts";
import { recordTarget, type Target } from "../bulk/target.ts";
import { ConfigurationError } from "../errors.ts";
import { readLines } from "../files/lines.ts";
import { openRegular } from "../files/regular-file.ts";
import { optionThat, parseOption, parseOptions } from "../schema/parse-options.ts";
import { hasMethods } from "../schema/predicates.ts";
import { changesBetween, type SnapshotChange } from "./changes.ts";
import { ContactIndex, entriesOf, keysOf, type LineBounds } from "./contact-index.ts";
import { hasRefused, type ReadContact, type SnapshotContact, shownConsents } from "./contact.ts";
import {
  fileError,
  fileOption,
  type FinishedHeading,
  damaged,
  parseContact,
  parseHeading,
  targetSalt,
} from "./snapshot-file.ts";

/** By what a contact is found: one of these. */
export interface SnapshotQuery {
  /** An e-mail address, in any case. */
  readonly email?: string | undefined;
  /** A phone number: its digits count. */
  readonly phone?: string | undefined;
  /** The id of a contact. */
  readonly id?: string | undefined;
}

const querySchema = z.strictObject({
  email: z.string().optional(),
  phone: z.string().optional(),
  id: z.string().optional(),
});

const snapshotOption = optionThat<Snapshot>("a snapshot, as openSnapshot gives one", (value) =>
  hasMethods(value, "find", "checkConsents"),
);

/** An open file of a snapshot, and where its contacts are. */
interface OpenFile {
  readonly file: string;
  readonly handle: number;
  readonly heading: FinishedHeading;
  readonly index: ContactIndex;
  readonly showsConsent: boolean;
}

/**
 * The audience as the service showed it. It keeps its file open until `close()`: a later snapshot may replace the file
 * meanwhile. Iterated, it gives each contact.
 *
 * ```ts
 * const today = await openSnapshot("audience.ndjson");
 * today.find({ email: "ada@example.com" })?.email_opt_in;
 * for await (const { id, email } of today) console.log(id, email);
 * ```
 */
export class Snapshot implements ConsentSnapshot, AsyncIterable<SnapshotContact> {
  /** The number of its contacts. */
  readonly size: number;
  /** Whether every page told the same total, and as many contacts came. A snapshot that is not may lack somebody. */
  readonly complete: boolean;
  /** When its reading began: each contact was seen then or later. */
  readonly readAt: Date;
  readonly #opened: OpenFile;
  #isClosed = false;

  /** @internal */
  constructor(opened: OpenFile) {
    const { size, complete, readAt } = opened.heading;
    this.#opened = opened;
    this.size = size;
    this.complete = complete;
    this.readAt = new Date(readAt);
  }

  /**
   * The contact with this e-mail address, phone number or id; undefined if the snapshot has none. Two spellings of an
   * address are one. If several contacts have it, the one that has refused comes first.
   *
   * ```ts
   * const contact = today.find({ phone: "+49 171 1234567" });
   * ```
   *
   * @throws ConfigurationError if the query has no address and no id, or the snapshot is closed.
   */
  find(query: SnapshotQuery): SnapshotContact | undefined {
    const asked = parseOptions(querySchema, query, "The query of find");
    if (Object.keys(asked).length === 0)
      throw new ConfigurationError("The query of find needs an `email`, a `phone` or an `id`.");
    void this.#handle;
    const found = this.#contactsWith(keysOf(asked));
    return found.find(hasRefused) ?? found[0];
  }

  /**
   * What is new since an earlier snapshot: contacts that are not in it (`"new"`), and contacts whose consent is another now
   * (`"consent"`). Who is missing is not told, as a list that shifts while it is read hides people.
   *
   * ```ts
   * for await (const { kind, contact, before } of today.changesSince(await openSnapshot("yesterday.ndjson")))
   *   console.log(kind, contact.email, before?.email_opt_in, contact.email_opt_in);
   * ```
   *
   * @throws ConfigurationError if one is of another service or organization, or no contact of one shows a consent.
   */
  changesSince(earlier: Snapshot): AsyncGenerator<SnapshotChange, void, undefined> {
    parseOption(snapshotOption, earlier, "The earlier snapshot of changesSince");
    return changesBetween(this, earlier);
  }

  /** Every contact, in the order of the file. */
  async *[Symbol.asyncIterator](): AsyncGenerator<SnapshotContact, void, undefined> {
    for await (const contact of this.read()) yield shown(contact);
  }

  /** @internal Every contact, and when its page was asked for. */
  async *read(): AsyncGenerator<ReadContact, void, undefined> {
    let isHeading = true;
    for await (const { text } of readLines(this.#handle)) {
      if (!isHeading) yield parseContact(text, this.#opened.file);
      isHeading = false;
      // It may be closed between two contacts.
      void this.#handle;
    }
  }

  /** Closes the file. The snapshot finds nothing any more. */
  close(): void {
    if (!this.#isClosed) closeSync(this.#opened.handle);
    this.#isClosed = true;
  }

  /** `using today = await openSnapshot(…)`. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** @internal */
  get heading(): FinishedHeading {
    return this.#opened.heading;
  }

  /** @internal Throws if a question about consents would never find one. */
  checkConsents(): void {
    const { file, showsConsent } = this.#opened;
    if (this.size === 0 || showsConsent) return;
    throw new ConfigurationError(
      `No contact of the snapshot ${file} shows a consent, so it can tell of no refusal. Ask the service for a list ` +
        "that shows `email_opt_in`, or go on without the snapshot; `npm run probe` shows what the list has.",
    );
  }

  /** @internal */
  async checkFor(target: Target, signal: AbortSignal): Promise<void> {
    const { target: recorded } = this.heading;
    // A name proves nothing of a snapshot that has a key.
    const named = recorded.organization === undefined ? { ...target, organization: undefined } : target;
    const families = named.families.filter(({ name }) => name === "v1");
    await recordTarget({ ...named, families }, recorded, {
      salt: targetSalt({ families }),
      signal,
      what: "snapshot",
    });
    this.checkConsents();
  }

  /** @internal */
  shownOf(keys: readonly string[]): SnapshotContact[] {
    return this.#contactsWith(keys);
  }

  get #handle(): number {
    if (this.#isClosed) throw new ConfigurationError("The snapshot is closed.");
    return this.#opened.handle;
  }

  #contactsWith(keys: readonly string[]): SnapshotContact[] {
    const found = new Map<string, SnapshotContact>();
    for (const key of keys) {
      for (const bounds of this.#opened.index.linesOf(key)) {
        const contact = this.#contactAt(bounds);
        if (keysOf(contact).includes(key)) found.set(contact.id, contact);
      }
    }
    return [...found.values()];
  }

  #contactAt({ start, end }: LineBounds): SnapshotContact {
    const bytes = Buffer.alloc(end - start - 1);
    readSync(this.#handle, bytes, 0, bytes.length, start);
    return shown(parseContact(bytes.toString(), this.#opened.file));
  }
}

function shown(read: ReadContact): SnapshotContact {
  const { readAt, ...contact } = read;
  void readAt;
  return contact;
}

/**
 * Opens a snapshot that `readSnapshot` has written. It reads the file once, and keeps 32 bytes of each contact in memory.
 *
 * ```ts
 * const yesterday = await openSnapshot("yesterday.ndjson");
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
