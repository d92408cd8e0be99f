import { decidedByService, type ConsentWrite } from "../consent.ts";
import type { JournalEvent, RecordedEnd, RecordedRow } from "./events.ts";
import { Notes } from "./notes.ts";
import { changedRecord, fieldsOf, recordOf, type RowRecord } from "./row-record.ts";
import {
  decodeContacts,
  isRefusal,
  isStricter,
  repeated,
  statementsOf,
  type Statement,
} from "./statements.ts";
import type { RecordedTarget } from "./target.ts";

/** Of a row's line, without its name, its fingerprint and its contacts. */
const charactersOfRow = 60;

/** A row as it was read. */
export interface RowAsRead {
  /** What was recorded of it before. */
  readonly before: RowRecord | undefined;
  /** Whether it is new, or another than the recorded one. */
  readonly isChanged: boolean;
  /** The position at which it was read. */
  readonly readAt: number;
}

/** What a row says of a contact. */
export interface RowStatement {
  readonly write: ConsentWrite;
  /** The row's writes to this contact so far, this one included. */
  readonly all: readonly ConsentWrite[];
  readonly row: RowAsRead;
}

/** What the service can tell of a row's contact. */
export interface LookedUp {
  /** Whether it is asked before the row is sent, if the row subscribes anybody: it is known, by its id. */
  readonly isPossible: boolean;
  /** Whether it has shown what earlier calls came to in a channel. */
  readonly isSettled: (channel: string) => boolean;
}

/** The run that a journal records. */
export interface LedgerRun {
  /** Part of the generated ids of events, and the salt of the target's keys. */
  readonly id: string;
  readonly isKeyed: boolean;
  readonly target: RecordedTarget;
}

/**
 * What the events of a journal have come to. The position of an event is the only clock: a run that goes on cannot tell
 * more of the order of two things.
 */
export class Ledger {
  /** The position of the last event. */
  at = 0;
  /** The position at which the run began. */
  began = 0;
  run: LedgerRun | undefined;
  #isOver = true;
  readonly #rows = new Map<string, RowRecord>();
  /** The rows that were sent and have not ended. */
  readonly #underWay = new Map<string, RowRecord>();
  readonly #notes = new Notes();

  fold(event: JournalEvent): void {
    this.at += 1;
    switch (event[0]) {
      case "run":
        return this.#begin(event[1], event[2], event[3]);
      case "over":
        return this.#end();
      case "sends":
        return this.#send(event[1], event[2], event[3], event[4]);
      case "ends":
        return this.#endRow(event[1], event[2], event[3], event[4]);
      case "writes":
        return this.#notes.begin(this.at, event[1], event[2], event[3]);
      case "wrote":
        return this.#notes.end(this.at, event[1], event[2], event[3], event[4]);
      case "at":
        [, this.at, this.began, this.#isOver] = event;
        return;
      case "row":
        this.at -= 1;
        return void this.#rows.set(event[1], recordOf(event.slice(2) as unknown as RecordedRow)); // Safe: its type
      case "note": {
        this.at -= 1;
        const [, contact, channel, status, at] = event;
        return this.#notes.add(contact, { channel, status, at, write: 0 });
      }
    }
  }

  /** The fewest events with which a new ledger comes to the same. */
  *compacted(): Generator<JournalEvent> {
    yield* this.#withoutRows();
    for (const [name, row] of this.#rows) yield ["row", name, ...fieldsOf(row)];
    for (const [name, row] of this.#underWay) yield ["row", name, ...fieldsOf(row)];
  }

  /** About the number of characters that these take. To write 100,000 rows as text would take a fifth of a second. */
  get size(): number {
    let size = 0;
    for (const event of this.#withoutRows()) size += JSON.stringify(event).length;
    for (const [name, { print, contacts }] of this.#rows)
      size += name.length + print.length + contacts.length + charactersOfRow;
    return size;
  }

  *#withoutRows(): Generator<JournalEvent> {
    if (!this.run) return;
    const { id, isKeyed, target } = this.run;
    yield ["run", id, isKeyed, target];
    yield ["at", this.at, this.began, this.#isOver];
    yield* this.#notes.events();
  }

  /** What is recorded of a row. */
  row(name: string): RowRecord | undefined {
    return this.#underWay.get(name) ?? this.#rows.get(name);
  }

  /** Whether nothing that it records may have reached the service. */
  get isBlank(): boolean {
    if (this.#underWay.size > 0 || !this.#notes.isEmpty) return false;
    for (const { state } of this.#rows.values()) if (state !== "failed") return false;
    return true;
  }

  /** Whether this run has met the row before: it goes on after a crash, or an early end. */
  hasMet(before: RowRecord | undefined): boolean {
    return before !== undefined && before.lastAt > this.began;
  }

  /**
   * Since when a new statement counts. The row may have been written before all that this run has learned of; if it has not
   * changed since its record, before all that was learned since. But one that the run has met before, and that has changed,
   * has changed meanwhile: its refusal is never held back in doubt.
   */
  newSince({ before, isChanged, readAt }: RowAsRead, status: string): number {
    if (before && !isChanged) return Math.min(before.placedAt, this.began);
    return this.hasMet(before) && isRefusal(status) ? readAt : this.began;
  }

  /**
   * Whether another consent of one of the write's contacts is later than what the row says. `contacts` are the names of
   * its contacts in the journal. In its own run a note binds in both directions; afterwards it is a refusal that is
   * remembered, until the service shows what came of it.
   */
  supersedes(contacts: readonly string[], statement: RowStatement, look: LookedUp): boolean {
    const { row, write } = statement;
    const isHeld = row.before?.state === "superseded-process" && !look.isPossible;
    const notes = contacts.flatMap((contact) => this.#notes.of(contact));
    return notes.some(({ channel, status, at }) => {
      const own = write.consent[channel];
      if (status !== decidedByService && status === own) return false;
      if (at <= this.#placeOf(statement, channel)) return false;
      if (at > this.began) return true;
      return !look.isSettled(channel) && (isHeld || isStricter(status, own));
    });
  }

  /** Whether another call has written another status of a channel since the row last succeeded. */
  isWrittenSince(contacts: readonly string[], before: RowRecord, channel: string, status: string): boolean {
    const notes = contacts.flatMap((contact) => this.#notes.of(contact));
    return notes.some(
      (note) => note.channel === channel && note.status !== status && note.at > before.placedAt,
    );
  }

  /** The position since which the row says what this write says of a channel. */
  #placeOf({ all, row, write }: RowStatement, channel: string): number {
    const { before } = row;
    const { decisions } = decodeContacts(before?.contacts ?? "");
    const isOf = (each: Statement): boolean => each.channel === channel;
    const isDecision = ({ status }: Statement): boolean => status !== "";
    const sinceOf = (each: Statement): number =>
      repeated(decisions, each)?.since ?? this.newSince(row, each.status);
    const own = statementsOf(write).find(isOf);
    if (own && isDecision(own)) return sinceOf(own);
    const placed = before?.placedAt ?? this.began;
    const decided = all.flatMap(statementsOf).filter(isDecision);
    // A channel that is not named is as old as the row's last decision, or success.
    if (!own) return Math.max(placed, ...decided.map(sinceOf));
    // One that the service decides, as what the row's other writes say of it, or else as its last success. But no opt-out
    // among them makes it newer than this run: the service may subscribe.
    const ofChannel = decided.filter(isOf);
    return ofChannel.length > 0 ? Math.min(this.began, Math.max(...ofChannel.map(sinceOf))) : placed;
  }

  #begin(id: string, isKeyed: boolean, target: RecordedTarget): void {
    // What was under way when a process was killed may have been carried out.
    for (const [row, record] of this.#underWay) this.#rows.set(row, record);
    this.#underWay.clear();
    this.#notes.forgetWrites();
    if (this.#isOver) this.began = this.at;
    this.#isOver = false;
    this.run = { id, isKeyed, target };
  }

  #end(): void {
    this.#isOver = true;
    if (this.run?.isKeyed) return;
    // Without keys the next run is another one.
    this.run = undefined;
    this.#rows.clear();
    this.#notes.clear();
  }

  /** Until the row ends, its record of before stands beside it. */
  #send(row: string, print: string, contacts: string, isOnce: boolean): void {
    const sent = { print, contacts, state: isOnce ? "in-doubt" : "sent", sentAt: this.at } as const;
    this.#underWay.set(row, changedRecord(this.#rows.get(row), sent, this));
  }

  #endRow(row: string, how: RecordedEnd, contacts?: string, print?: string): void {
    const before = this.#rows.get(row);
    const last = this.#underWay.get(row) ?? before;
    this.#underWay.delete(row);
    if (how === "unsent") return;
    const said = contacts ?? last?.contacts ?? "";
    const change = {
      print: print ?? last?.print ?? "",
      contacts: said,
      state: how,
      sentAt: last?.sentAt ?? 0,
    };
    // Nothing was carried out: an earlier record stands, but for what the row has said.
    const record =
      how === "failed" && before
        ? recordOf(fieldsOf({ ...before, contacts: said, lastAt: this.at }))
        : changedRecord(before, change, this);
    this.#rows.set(row, record);
  }
}
