import type { ConsentWrite } from "../consent.ts";
import type { JournalEvent, WriteEnd } from "./events.ts";

/** A consent of a contact that another call wrote. */
interface Note {
  readonly channel: string;
  readonly status: string;
  readonly at: number;
  /** Whether it was applied; else it may have been. */
  readonly isCertain: boolean;
  /** The number of a write that has not ended; else 0. */
  readonly write: number;
}

/** The consents that other calls have written, by the names of their contacts. `at` is a position in the journal. */
export class Notes {
  readonly #notes = new Map<string, readonly Note[]>();

  of(contact: string): readonly Note[] {
    return this.#notes.get(contact) ?? [];
  }

  /** A write begins: it may be applied from now on. */
  begin(at: number, write: number, contacts: readonly string[], consent: ConsentWrite["consent"]): void {
    for (const contact of contacts)
      for (const [channel, status] of Object.entries(consent))
        this.add(contact, { channel, status, at, isCertain: false, write });
  }

  /** A write has ended. `contacts` and `consent` are those of the write as it was applied. */
  end(
    at: number,
    write: number,
    contacts: readonly string[],
    consent: ConsentWrite["consent"],
    end: WriteEnd,
  ): void {
    for (const contact of contacts) {
      const others = this.of(contact).filter((note) => note.write !== write);
      this.#notes.set(contact, others);
      if (end === "not-applied") {
        if (others.length === 0) this.#notes.delete(contact);
        continue;
      }
      for (const [channel, status] of Object.entries(consent))
        this.add(contact, { channel, status, at, isCertain: end === "applied", write: 0 });
    }
  }

  /** Of an applied consent the earlier ones are history, but for writes that have not ended; and no two say the same. */
  add(contact: string, note: Note): void {
    const isPast = (old: Note): boolean =>
      old.channel === note.channel &&
      old.write === 0 &&
      note.write === 0 &&
      (note.isCertain || (!old.isCertain && old.status === note.status));
    const others = this.of(contact).filter((old) => !isPast(old));
    this.#notes.set(contact, [...others, note]);
  }

  /** The writes under way when a process was killed have no end: they may have been applied. */
  forgetWrites(): void {
    for (const [contact, notes] of this.#notes)
      if (notes.some(({ write }) => write > 0))
        this.#notes.set(
          contact,
          notes.map((note) => ({ ...note, write: 0 })),
        );
  }

  clear(): void {
    this.#notes.clear();
  }

  *events(): Generator<JournalEvent> {
    for (const [contact, notes] of this.#notes)
      for (const { channel, status, at, isCertain } of notes)
        yield ["note", contact, channel, status, at, isCertain];
  }
}
