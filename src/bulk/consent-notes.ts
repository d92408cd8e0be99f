import type { ConsentWrite } from "../consent.ts";
import type { Outcome } from "../errors.ts";
import type { ConsentWatch, FamilyIdentity } from "../transport/call.ts";
import type { JournalEvent, WriteEnd } from "./events.ts";
import type { Journal } from "./journal.ts";
import type { Target } from "./target.ts";

/** A consent that another call has begun to write, or has written. */
type Notice = { readonly number: number; readonly write: ConsentWrite; readonly end?: WriteEnd };

/** Notes in the journal of a run which consents other calls write, from the begin of the run to its end. */
export class ConsentNotes implements ConsentWatch {
  readonly #target: Target;
  /** The writes under way, with their numbers in this run. */
  readonly #numbers = new Map<ConsentWrite, number>();
  #count = 0;
  /** Those that are being recorded. */
  readonly #pending = new Set<Promise<void>>();
  /** Those of before the journal was open. */
  readonly #held: Notice[] = [];
  #journal: Journal | undefined;
  /** The last notice; its contacts have names. */
  #lastNamed = Promise.resolve();

  constructor(target: Target) {
    this.#target = target;
  }

  /** Notes in the journal what was written while it was opened, and from now on every write. */
  async recordIn(journal: Journal): Promise<void> {
    this.#journal = journal;
    await Promise.all(this.#held.splice(0).map((notice) => this.#note(notice)));
  }

  /** A client that shares one family with the run is of its organization: both families write the same contacts. */
  concerns(families: readonly FamilyIdentity[]): boolean {
    return this.#target.families.some((own) =>
      families.some(
        ({ name, baseUrl, key }) => own.name === name && own.baseUrl === baseUrl && own.key.isSameAs(key),
      ),
    );
  }

  async begins(write: ConsentWrite): Promise<void> {
    const number = (this.#count += 1);
    this.#numbers.set(write, number);
    await this.#note({ number, write });
  }

  async ended(write: ConsentWrite, outcome: Outcome, applied = write): Promise<void> {
    const number = this.#numbers.get(write);
    /* v8 ignore next -- @preserve every watch is told of the begin */
    if (number === undefined) return;
    this.#numbers.delete(write);
    const isOver = outcome === "not-sent" || outcome === "not-applied";
    await this.#note({ number, write: applied, end: isOver ? "not-applied" : outcome });
  }

  /** Resolves when everything so far has its line. */
  async named(): Promise<void> {
    await this.#lastNamed;
  }

  /** Resolves when everything is recorded, also what comes meanwhile. */
  async recorded(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  async #note(notice: Notice): Promise<void> {
    const journal = this.#journal;
    if (!journal) return void this.#held.push(notice);
    const noting = this.#noteIn(journal, notice);
    this.#pending.add(noting);
    await noting;
    this.#pending.delete(noting);
  }

  /** A failure of the checkpoint ends the run, but not the write that is being recorded. */
  async #noteIn(journal: Journal, notice: Notice): Promise<void> {
    const { number, write, end } = notice;
    // One after the other, so that lines have the order of the notices.
    const named = this.#lastNamed.then(() => Promise.all(write.contacts.map((key) => journal.nameOf(key))));
    const line = named.then((contacts) => {
      const event: JournalEvent = end
        ? ["wrote", number, contacts, write.consent, end]
        : ["writes", number, contacts, write.consent];
      // A write with an unknown end must not be lost.
      return { recorded: journal.add(event, { flush: !end }).catch(() => undefined) };
    });
    this.#lastNamed = line.then(() => undefined);
    await (
      await line
    ).recorded;
  }
}
