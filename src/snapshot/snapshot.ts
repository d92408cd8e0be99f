import * as z from "zod";
import { ConfigurationError } from "../errors.ts";
import { checkSame, type RecordedTarget, recordTarget, type Target } from "../organization.ts";
import { optionThat, optionTypes, parseOption, parseOptions } from "../schema/parse-options.ts";
import { hasMethods } from "../values/predicates.ts";
import {
  hasOtherConsent,
  hasRefused,
  snapshotKeysOf,
  type SnapshotChange,
  type SnapshotContact,
  type SnapshotRefusal,
} from "./snapshot-contact.ts";
import { type Heading, SnapshotFile } from "./snapshot-file.ts";

/** By what a snapshot finds a contact: one of these. */
export interface SnapshotQuery {
  /** An e-mail address, in any case. */
  readonly email?: string | undefined;
  /** A phone number: its digits count. */
  readonly phone?: string | undefined;
  /** The id of the contact. */
  readonly id?: string | undefined;
}

/** A day: the age of the oldest snapshot by which rows are judged, and of the oldest read that goes on. */
export const maxSnapshotAgeMs = 86_400_000;

const querySchema = z.strictObject({
  email: z.string().optional(),
  phone: z.string().optional(),
  id: z.string().optional(),
});

const snapshotOption = optionThat<Snapshot>("a snapshot, as openSnapshot gives one", (value) =>
  hasMethods(value, "find", "checkConsents"),
);

/**
 * The audience as the service showed it. It keeps its file open until `close()`: a later snapshot may replace the file
 * meanwhile. Iterated, it gives each contact.
 *
 * ```ts
 * using today = await openSnapshot("audience.ndjson");
 * today.find({ email: "ada@example.com" })?.email_opt_in;
 * for await (const { id, email } of today) console.log(id, email);
 * ```
 */
export class Snapshot implements AsyncIterable<SnapshotContact> {
  /** The number of contacts in the snapshot. */
  readonly size: number;
  /**
   * Whether every page told the same total, and as many contacts came. It proves the count, not the people: of a list that
   * shifts one may be missing, and another one counted in the place.
   */
  readonly complete: boolean;
  /** When the read of the snapshot began: each contact was seen then or later. */
  readonly readAt: Date;
  readonly #file: SnapshotFile;

  /** @internal */
  constructor(file: SnapshotFile) {
    const { size, complete, readAt } = file.heading;
    this.#file = file;
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
    const parsedQuery = parseOptions(querySchema, query, "The query of find");
    if (Object.keys(parsedQuery).length === 0)
      throw new ConfigurationError("The query of find needs an `email`, a `phone` or an `id`.");
    const contacts = this.shownOf(snapshotKeysOf(parsedQuery));
    return contacts.find((contact) => hasRefused(contact)) ?? contacts[0];
  }

  /**
   * Who is refused: unsubscribed from a channel, or suppressed. So refusals at the service come home into your own table.
   * Write each over a word of yours that is older than `readAt`, and over no newer one.
   *
   * With `last`, only who is not refused there in the same channel and at the same address: for a table in which each write
   * costs much. `last` is the snapshot whose refusals you have written to the end: keep its file until then. Who has come
   * back and left again between the two snapshots is in both, and not told.
   *
   * ```ts
   * for await (const { contact, readAt } of today.refusalsSince())
   *   console.log(contact.email, contact.email_opt_in, readAt);
   * ```
   *
   * @throws ConfigurationError if a snapshot is of another service or organization, no contact of it shows a consent, or its
   * file was cut off.
   */
  async *refusalsSince(last?: Snapshot): AsyncGenerator<SnapshotRefusal, void, undefined> {
    if (last === undefined) this.checkConsents();
    else this.#checkComparable(last);
    for await (const { contact, readAt } of this.#file.contacts())
      if (hasRefused(contact, last?.find({ id: contact.id }))) yield { contact, readAt: new Date(readAt) };
  }

  /**
   * What is new since an earlier snapshot: contacts that are not in it (`"new"`), and contacts whose consent is another now
   * (`"consent"`). Who is missing is not told, as a list that shifts while it is read hides people.
   *
   * It is for a person to look at. Never write it into your own table: an opt-in of it may be older than a refusal that has
   * reached the table since the page was read, and the next job would subscribe her. `refusalsSince` is for that.
   *
   * ```ts
   * using yesterday = await openSnapshot("yesterday.ndjson");
   * for await (const { kind, contact, before } of today.changesSince(yesterday))
   *   console.log(kind, contact.email, before?.email_opt_in, contact.email_opt_in);
   * ```
   *
   * @throws ConfigurationError if a snapshot is of another service or organization, no contact of it shows a consent, or its
   * file was cut off.
   */
  async *changesSince(earlier: Snapshot): AsyncGenerator<SnapshotChange, void, undefined> {
    this.#checkComparable(earlier);
    for await (const { contact } of this.#file.contacts()) {
      const before = earlier.find({ id: contact.id });
      if (!before) yield { kind: "new", contact };
      else if (hasOtherConsent(contact, before)) yield { kind: "consent", contact, before };
    }
  }

  /** Every contact of the snapshot, in the order of its file. A file that was cut off is a `ConfigurationError` at its end. */
  async *[Symbol.asyncIterator](): AsyncGenerator<SnapshotContact, void, undefined> {
    for await (const { contact } of this.#file.contacts()) yield contact;
  }

  /** Closes the file: the snapshot finds nothing any more. In JavaScript before Node 24, which has no `using`, call it. */
  close(): void {
    this.#file.file.close();
  }

  /** `using today = await openSnapshot(…)`. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** @internal */
  get heading(): Heading {
    return this.#file.heading;
  }

  /** @internal Throws if no contact of the snapshot shows a consent. */
  checkConsents(): void {
    const { file, hasConsent } = this.#file;
    if (this.size === 0 || hasConsent) return;
    throw new ConfigurationError(
      `No contact of the snapshot ${file.path} shows a consent, so it can tell of no refusal. Ask the service for a list ` +
        "that shows `email_opt_in`, or go on without the snapshot; `npm run probe` shows what the list has.",
    );
  }

  /** @internal Throws if the snapshot is too old, of another target, or shows no consent. */
  async checkFor(target: Target, signal: AbortSignal): Promise<void> {
    const { readAt, target: recorded } = this.heading;
    if (Math.abs(Date.now() - Date.parse(readAt)) > maxSnapshotAgeMs)
      throw new ConfigurationError(
        `The snapshot was begun at ${readAt}, over a day from now: many may have unsubscribed since. Read a new one with ` +
          "readSnapshot.",
      );
    // The name of an organization proves nothing of a snapshot that has a key.
    const organization = recorded.organization && target.organization;
    await recordSnapshotTarget({ ...target, organization }, recorded, signal);
    this.checkConsents();
  }

  /** @internal The contacts of the snapshot that have one of these keys. */
  shownOf(keys: readonly string[]): SnapshotContact[] {
    return this.#file.contactsWithKeys(keys);
  }

  #checkComparable(earlier: Snapshot): void {
    const { heading } = parseOption(snapshotOption, earlier, "The earlier snapshot");
    checkSame(this.heading.target, heading.target, "earlier snapshot");
    this.checkConsents();
    earlier.checkConsents();
  }
}

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
  return new Snapshot(
    await SnapshotFile.open(parseOption(optionTypes.string, file, "The file of openSnapshot")),
  );
}

/**
 * The record of the target in a snapshot: of the v1 family, as only v1 lists contacts. The salt of its key is the same in all
 * snapshots of a service, so that two of them are compared without the key (D166).
 */
export function recordSnapshotTarget(
  target: Target,
  recorded: RecordedTarget | undefined,
  signal: AbortSignal,
): Promise<RecordedTarget> {
  const families = target.families.filter(({ name }) => name === "v1");
  const salt = `audience-snapshot ${families[0]?.baseUrl}`;
  return recordTarget({ ...target, families }, recorded, { salt, signal, what: "snapshot" });
}
