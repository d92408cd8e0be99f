import type { ConsentWrite } from "../consent.ts";
import type { JournalEvent, WriteEnd } from "./events.ts";

/** A consent of a contact that another call wrote. */
interface Note {
  readonly channel: string;
  readonly status: string;
  readonly at: number;
  /** The number of a write that has not ended; else 0. */
  readonly write: number;
}

/** The consents that other calls have written, by the names of their contacts. `at` is a position in the journal. */
export class Notes {
  readonly #notes = new Map<string, readonly Note[]>();

  get isEmpty(): boolean {
    return this.#notes.size === 0;
  }

  of(contact: string): readonly Note[] {
    return this.#notes.get(contact) ?? [];
  }

  /** A write begins: it may be applied from now on. */
  begin(at: number, write: number, contacts: readonly string[], consent: ConsentWrite["consent"]): void {
    for (const contact of contacts)
      for (const [channel, status] of Object.entries(consent))
        this.add(contact, { channel, status, at, write });
  }

  /** A write has ended. `contacts` and `consent` are those of the write as it was applied. */
  end(
    at: number,
    write: number,
    contacts: readonly string[],
    consent: ConsentWrite["consent"],
    end: WriteEnd,
  ): void {
    const isOwn = (note: Note): boolean => note.write === write;
    const begun = contacts.flatMap((contact) => this.of(contact)).find(isOwn)?.at ?? 0;
    for (const contact of contacts) {
      const others = this.of(contact).filter((note) => !isOwn(note));
      this.#notes.set(contact, others);
      if (end === "not-applied") {
        if (others.length === 0) this.#notes.delete(contact);
        continue;
      }
      for (const [channel, status] of Object.entries(consent))
        this.add(contact, { channel, status, at, write: 0 }, end === "applied" ? begun : 0);
    }
  }

  /** No two notes say the same. Those up to `since` are history: the write was applied, and began after them. */
  add(contact: string, note: Note, since = 0): void {
    const isPast = ({ channel, status, at, write }: Note): boolean =>
      channel === note.channel && write === 0 && note.write === 0 && (at < since || status === note.status);
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
      for (const { channel, status, at } of notes) yield ["note", contact, channel, status, at];
  }
}
