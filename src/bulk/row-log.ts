import type { ConsentWrite } from "../consent.ts";
import { randomUuid } from "../runtime.ts";
import type { ApiRequest, ApiResponse } from "../transport/call.ts";
import type { RecordedEnd } from "./events.ts";
import { sha256 } from "./hash.ts";
import type { Journal } from "./journal.ts";
import { inDoubt, type RowEnd } from "./result.ts";
import type { RowRecord } from "./row-record.ts";
import { decide, decodeContacts, encodeContacts, knownIds, tagOf, type StatedWrites } from "./statements.ts";

const idPrefix = "contactUUID:";

/** The identity of a row in its run. */
export interface RowKey {
  readonly key: string;
  /** The key of the row before it with the same key. */
  readonly previousKey?: string | undefined;
  /** The key of a further row with the same key. */
  readonly nextKey: string;
  readonly fingerprint: string;
  /** Why the row has no key, and is not sent. */
  readonly problem?: { readonly error: unknown };
}

/** Records one row during one run. Without a checkpoint it records nothing. */
export class RowLog {
  /** The record of an earlier run, or of this run before a crash. */
  readonly before: RowRecord | undefined;
  /** The position in the journal at which the row was read. */
  readonly readAt: number;
  readonly #journal: Journal;
  readonly #row: RowKey & { readonly name: string };
  /** Whether a row before it, with the same key, was sent after it: the last of them has the last word. */
  readonly #isBehind: boolean;
  /** Of the row in this state, for its events; undefined without a checkpoint. */
  readonly #id: string | undefined;
  /** How many events of each name have a generated id. */
  readonly #events = new Map<string, number>();
  /** The ids of the contacts that responses gave, by the tags of the contacts. */
  readonly #ids = new Map<string, string>();
  #sent: { readonly contacts: string; readonly isOnce: boolean } | undefined;

  private constructor(
    journal: Journal,
    row: RowKey & { readonly name: string },
    isBehind: boolean,
    id?: string,
  ) {
    this.readAt = journal.ledger.at;
    this.#journal = journal;
    this.#row = row;
    this.before = journal.ledger.row(row.name);
    this.#isBehind = isBehind;
    this.#id = id;
  }

  static async open(journal: Journal, row: RowKey): Promise<RowLog> {
    const { ledger } = journal;
    if (!journal.isRecorded) return new RowLog(journal, { ...row, name: "" }, false);
    const name = await journal.nameOf(row.key);
    const before = ledger.row(name);
    const previous =
      row.previousKey === undefined ? undefined : ledger.row(await journal.nameOf(row.previousKey));
    const isBehind = (previous?.sentAt ?? 0) > (before?.sentAt ?? 0);
    const version = before ? before.version + Number(before.print !== row.fingerprint) : 1;
    // The same after a crash, and another after each change of the row, even a change back.
    const parts = [ledger.run?.id, row.key, `${version} ${row.fingerprint}`];
    return new RowLog(journal, { ...row, name }, isBehind, await sha256(JSON.stringify(parts)));
  }

  /** The end that an earlier run recorded, if it still holds. */
  get earlierEnd(): RowEnd<never> | undefined {
    return this.before && !this.isChanged ? recordedEnd(this.before, this.#isBehind) : undefined;
  }

  /** Whether the row is new, or another than the recorded one. */
  get isChanged(): boolean {
    return this.before?.print !== this.#row.fingerprint;
  }

  /** Whether it is not known to be carried out as it is now: it has changed, or has not succeeded since. */
  get isOwed(): boolean {
    return this.isChanged || this.before?.state !== "succeeded";
  }

  /** An earlier run may have carried out an unrepeatable call of the row: none is sent now. */
  get refusesUnrepeatable(): boolean {
    return this.before?.state === "in-doubt" || this.before?.isInDoubt === true;
  }

  /**
   * The id of an event that has none of its own. Independent of the order of events with different names: after a crash it
   * may be another.
   */
  newEventId(eventName: string): string {
    if (this.#id === undefined) return randomUuid();
    const number = (this.#events.get(eventName) ?? 0) + 1;
    this.#events.set(eventName, number);
    return `${this.#id}-${number}-${eventName}`;
  }

  /**
   * Notes the id of the contact that a write's response gives, or that it gives none. Only the response knows it: a custom
   * request names whom it likes.
   */
  noteId({ consentWrite, appliedConsent }: ApiRequest, { data }: ApiResponse): void {
    if (!consentWrite) return;
    const key = appliedConsent(consentWrite, data).contacts.find(
      (contact) => contact.startsWith(idPrefix) && !consentWrite.contacts.includes(contact),
    );
    const tag = tagOf(consentWrite.contacts);
    this.#ids.set(tag, key?.slice(idPrefix.length) ?? this.#ids.get(tag) ?? "");
  }

  /** Every name of a write's contact: also the id that an earlier response gave. */
  namesOf({ contacts }: ConsentWrite): readonly string[] {
    const tag = tagOf(contacts);
    const id = this.#ids.get(tag) || decodeContacts(this.before?.contacts ?? "").ids.get(tag);
    return id ? [...contacts, idPrefix + id] : contacts;
  }

  /**
   * Records before an attempt that the row may be carried out. A crash must not make a changed row look unchanged. Also
   * before each further attempt, as hours may lie between them: a checkpoint that another run has taken over refuses it.
   */
  async sends(writes: StatedWrites, isOnce: boolean): Promise<void> {
    if (!this.#journal.isRecorded) return;
    const { name, fingerprint } = this.#row;
    const sent = { contacts: this.#contacts(writes), isOnce: isOnce || this.#sent?.isOnce === true };
    const flush = sent.isOnce !== this.#sent?.isOnce && (sent.isOnce || this.before !== undefined);
    this.#sent = sent;
    await this.#journal.add(["sends", name, fingerprint, sent.contacts, sent.isOnce], { flush });
  }

  /** Records the end. */
  async ends(how: RecordedEnd, writes: StatedWrites): Promise<void> {
    if (!this.#journal.isRecorded) return;
    if (how === "unsent" && !this.#sent) return;
    const { name, fingerprint } = this.#row;
    const contacts = this.#contacts(writes, this.#ids);
    if (!this.#sent) await this.#journal.add(["ends", name, how, contacts, fingerprint]);
    else if (this.#sent.contacts === contacts) await this.#journal.add(["ends", name, how]);
    else await this.#journal.add(["ends", name, how, contacts]);
  }

  /** Reverts a row that was recorded as succeeded before its call: the next run sends it. */
  async reopen(): Promise<void> {
    const { name, fingerprint } = this.#row;
    const contacts = this.#journal.ledger.row(name)?.contacts ?? "";
    await this.#journal.add(["sends", name, fingerprint, contacts, false], { flush: true });
  }

  /**
   * What the row says now. A contact that the row has not had before takes the place of those that it no longer has: else
   * its record would grow with each new address.
   */
  #contacts(writes: StatedWrites, given: ReadonlyMap<string, string> = new Map()): string {
    const { ledger } = this.#journal;
    const before = decodeContacts(this.before?.contacts ?? "");
    const decisions = decide(before.decisions, writes, ({ status }) => ledger.newSince(this, status));
    const written = new Set([...writes.keys()].map(({ contacts }) => tagOf(contacts)));
    return encodeContacts({ decisions, ...knownIds(before, given, written) });
  }
}

function recordedEnd({ state }: RowRecord, isBehind: boolean): RowEnd<never> | undefined {
  switch (state) {
    case "succeeded":
      return isBehind ? undefined : { status: "skipped" };
    case "in-doubt":
      return { status: "unknown", error: inDoubt() };
    case "superseded-process":
      return { status: "superseded", reason: "process" };
    case "superseded-service":
      return { status: "superseded", reason: "service" };
    case "superseded-snapshot":
      return { status: "superseded", reason: "snapshot" };
    case "failed":
    case "sent":
      return undefined;
  }
}
