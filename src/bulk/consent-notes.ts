import type { ConsentWrite } from "../consent.ts";
import type { Outcome } from "../errors.ts";
import { unlessLate } from "../transport/abort.ts";
import type { ConsentWatch, FamilyIdentity } from "../transport/call.ts";
import { unrecordedWrites, type UnrecordedWrite } from "../transport/consent-registry.ts";
import type { JournalEvent, WriteEnd } from "./events.ts";
import type { Journal } from "./journal.ts";
import type { OwnClients } from "./own-clients.ts";

/** A consent that another call has begun to write, or has written. `applied`: as the response names it. */
interface Notice {
  readonly number: number;
  readonly write: ConsentWrite;
  readonly applied: ConsentWrite;
  readonly end?: WriteEnd;
}

/** Another call does not wait longer for a record (D154). */
const longestWaitMs = 2_000;
const lateRecord =
  "the checkpoint of a bulk run is slow: other calls go on before their consents are recorded, and a crash now would " +
  "lose them";

/** Notes in the journal of a run which consents other calls write, from the begin of the run to its end. */
export class ConsentNotes implements ConsentWatch {
  readonly #clients: OwnClients;
  readonly #warn: (message: string) => void;
  /** The writes under way, with their numbers in this run; undefined for another organization's. */
  readonly #begun = new Map<ConsentWrite, Promise<number | undefined>>();
  #count = 0;
  /** Those that are being recorded. */
  readonly #pending = new Set<Promise<void>>();
  /** Whether a record takes so long that nobody waits for it any more. */
  #isLate = false;
  /** Those of before the journal was open. */
  readonly #held: Notice[] = [];
  #journal: Journal | undefined;
  /** The last notice; its contacts have names. */
  #lastNamed = Promise.resolve();

  constructor(clients: OwnClients, warn: (message: string) => void) {
    this.#clients = clients;
    this.#warn = warn;
  }

  /**
   * Notes in the journal what was written while it was opened, and from now on every write. A run that goes on notes first
   * what the journal could not record.
   */
  async recordIn(journal: Journal): Promise<void> {
    await Promise.all(this.#begun.values());
    this.#journal = journal;
    const notices = takeUnrecorded(journal).map((each) => ({ ...each, number: (this.#count += 1) }));
    await Promise.all([...notices, ...this.#held.splice(0)].map((notice) => this.#note(notice)));
  }

  concerns(families: readonly FamilyIdentity[]): boolean {
    return this.#clients.ofService(families);
  }

  async begins(write: ConsentWrite, families: readonly FamilyIdentity[]): Promise<void> {
    const begun = this.#begin(write, families);
    this.#begun.set(write, begun);
    await begun;
  }

  async ended(write: ConsentWrite, outcome: Outcome, applied = write): Promise<void> {
    const number = await this.#begun.get(write);
    this.#begun.delete(write);
    if (number === undefined) return;
    await this.#note({ number, write, applied, end: outcome === "not-sent" ? "not-applied" : outcome });
  }

  /** Resolves when everything so far has its line. */
  async named(): Promise<void> {
    await this.#lastNamed;
  }

  /** Resolves when everything is recorded, also what comes meanwhile. */
  async recorded(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  async #begin(write: ConsentWrite, families: readonly FamilyIdentity[]): Promise<number | undefined> {
    if (!(await this.#clients.ofOrganization(families))) return undefined;
    const number = (this.#count += 1);
    await this.#note({ number, write, applied: write });
    return number;
  }

  async #note(notice: Notice): Promise<void> {
    const journal = this.#journal;
    if (!journal) return void this.#held.push(notice);
    // One after the other, so that lines have the order of the notices.
    const named = this.#lastNamed.then(() =>
      Promise.all(notice.applied.contacts.map((key) => journal.nameOf(key))),
    );
    const line = named.then((contacts) => ({ recorded: record(journal, notice, contacts) }));
    this.#lastNamed = line.then(() => undefined);
    const noted = line.then(({ recorded }) => recorded).finally(() => this.#pending.delete(noted));
    this.#pending.add(noted);
    // From now on the rows of the run know it.
    await line;
    await this.#unlessLate(noted);
  }

  async #unlessLate(noted: Promise<void>): Promise<void> {
    if (this.#isLate) return;
    await unlessLate(noted, longestWaitMs, () => {
      if (!this.#isLate) this.#warn(lateRecord);
      this.#isLate = true;
      void noted.then(() => (this.#isLate = false));
    });
  }
}

/** A failure of the checkpoint ends the run, but not the write that is being recorded. */
async function record(journal: Journal, notice: Notice, contacts: readonly string[]): Promise<void> {
  const { number, write, applied, end } = notice;
  const { consent } = applied;
  const event: JournalEvent = end
    ? ["wrote", number, contacts, consent, end]
    : ["writes", number, contacts, consent];
  const unrecorded = unrecordedWrites();
  const id = idOf(journal);
  try {
    // A write with an unknown end must not be lost.
    await journal.add(event, { flush: !end });
    unrecorded.get(id)?.delete(write);
  } catch {
    const writes = unrecorded.get(id) ?? new Map<ConsentWrite, UnrecordedWrite>();
    if (end === "not-applied") writes.delete(write);
    else writes.set(write, { applied, end: end ?? "unknown" });
    unrecorded.set(id, writes);
  }
}

/** What a journal could not record: none, if its run was over, as these writes came before the next one. */
function takeUnrecorded(journal: Journal): Omit<Notice, "number">[] {
  const { at, began } = journal.ledger;
  const missing = [...(unrecordedWrites().get(idOf(journal)) ?? [])];
  unrecordedWrites().delete(idOf(journal));
  return began < at ? missing.map(([write, each]) => ({ write, ...each })) : [];
}

function idOf({ ledger }: Journal): string {
  return String(ledger.run?.id);
}
