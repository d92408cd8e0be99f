import { type ConsentWrite, decidedByService, isRefusal } from "../../consent.ts";
import type { Outcome } from "../../errors.ts";
import { shortHash } from "../../hash.ts";
import { isOfTarget } from "../../organization.ts";
import { unlessLate } from "../../transport/abort-signal.ts";
import type { FamilyIdentity } from "../../transport/api-key.ts";
import type { ConsentListener } from "../../transport/call.ts";
import type { RunParts } from "../run-end.ts";
import type { RunRecord } from "../run-record.ts";
import { type GuardedRow, nextMoment, type Word } from "./guard.ts";

/** What other calls have said of a channel at one address of a contact. */
interface Calls {
  /** Those that refuse, each with the moment at which it ended: Infinity while it is under way, -1 if nothing was done. */
  readonly refusals: Map<readonly ConsentWrite[] | "before a kill", number>;
  /** When the last call began that was applied and says otherwise; 0 if none was. */
  liftedAt: number;
}

/** Another call waits no longer for the record of its refusal (D154). */
const longestWaitMs = 2_000;

/**
 * Knows what earlier rows of the run refuse, and what other calls of this process do: from the begin of the run on, and those
 * that the record has from before a kill.
 */
export class ProcessGuard implements ConsentListener {
  readonly #run: RunParts;
  readonly #record: Promise<RunRecord | undefined>;
  /** When a row refused, by channel and key: Infinity by its own word, which nothing lifts. */
  readonly #refusedByRows = new Map<string, number>();
  /** Of other calls, by channel and key. */
  readonly #addresses = new Map<string, Calls>();
  readonly #beganAt = new WeakMap<readonly ConsentWrite[], number>();
  /** Until when calls wait together for the record to open, as where the run waits for a lock; Infinity once it is open. */
  #opensBy = performance.now() + longestWaitMs;
  /** Resolves when all refusals so far are recorded. */
  recorded: Promise<unknown> = Promise.resolve();

  constructor(run: RunParts, record: Promise<RunRecord | undefined>) {
    this.#run = run;
    this.#record = record;
    record.then(
      () => (this.#opensBy = Infinity),
      () => undefined,
    );
  }

  /** A row was sent or skipped, or may have been sent: a later one may not lift what it refuses. */
  learn(said: readonly ConsentWrite[]): void {
    for (const place of wordsOf(said).refused) this.#refusedByRows.set(place, Infinity);
  }

  /**
   * A row left with these words, or a look showed them, at that moment; a refusal among them need not be the row's own, so a
   * later word may lift it.
   */
  learnShown(said: readonly ConsentWrite[], moment: number): void {
    const { refused, others } = wordsOf(said);
    const isNews = (place: string) => (this.#refusedByRows.get(place) ?? 0) < moment;
    for (const place of refused) if (isNews(place)) this.#refusedByRows.set(place, moment);
    for (const place of others) if (isNews(place)) this.#refusedByRows.delete(place);
  }

  concerns(families: readonly FamilyIdentity[]): boolean {
    return isOfTarget(this.#run.options.target, families);
  }

  async begins(said: readonly ConsentWrite[]): Promise<void> {
    this.#beganAt.set(said, nextMoment());
    const { refused } = wordsOf(said);
    for (const address of refused) this.#callsAbout(address).refusals.set(said, Infinity);
    const slow =
      "other calls do not wait for a slow checkpoint, or for its lock: a crash now would lose their refusals";
    const waitMs = Math.max(0, Math.min(longestWaitMs, this.#opensBy - performance.now()));
    await unlessLate(this.#records([...refused]), waitMs, () => this.#run.warnings.sayOnce(slow));
  }

  async ended(said: readonly ConsentWrite[], outcome: Outcome, applied = said): Promise<void> {
    const wasDone = outcome === "applied" || outcome === "unknown";
    const beganAt = this.#beganAt.get(said) ?? nextMoment();
    const { refused, others } = wordsOf([...said, ...applied]);
    for (const address of refused) this.#callsAbout(address).refusals.set(said, wasDone ? nextMoment() : -1);
    for (const address of outcome === "applied" ? others : []) {
      const calls = this.#callsAbout(address);
      calls.liftedAt = Math.max(calls.liftedAt, beganAt);
    }
    // Its begin is recorded; nobody waits for more.
    void this.#records([...refused, ...others]);
  }

  /** Before the row is judged: takes from the record what was refused before a kill. */
  async recall(row: GuardedRow): Promise<void> {
    const record = await this.#record;
    if (!record?.earlierRefusals.size) return;
    await Promise.all(channelsAt(row).map(({ address }) => this.#recall(address, record)));
  }

  wordsAbout(row: GuardedRow): Word[] {
    return channelsAt(row).flatMap(({ address, ...word }): Word[] => {
      const [moment, calls] = [this.#refusedByRows.get(address), this.#addresses.get(address)];
      return [
        ...(moment === undefined ? [] : [{ ...word, by: "run" as const, isRefused: true, moment }]),
        ...(calls ? [{ ...word, by: "process" as const, ...wordOf(calls) }] : []),
      ];
    });
  }

  #callsAbout(address: string): Calls {
    const known = this.#addresses.get(address) ?? { refusals: new Map(), liftedAt: 0 };
    this.#addresses.set(address, known);
    return known;
  }

  /** Gives the name of the address in the record. */
  async #recall(address: string, { earlierRefusals }: RunRecord): Promise<string> {
    const name = await shortHash(address);
    if (earlierRefusals.has(name)) this.#callsAbout(address).refusals.set("before a kill", 0);
    return name;
  }

  /** So that they are known after a kill, until the run is over. A failure ends the run, and not the call. */
  async #records(addresses: readonly string[]): Promise<void> {
    if (addresses.length === 0) return;
    const recording = this.#record.then(
      (record) => record && Promise.all(addresses.map((address) => this.#recordAt(address, record))),
    );
    const settled = recording.catch(() => undefined);
    this.recorded = this.recorded.then(() => settled);
    await settled;
  }

  async #recordAt(address: string, record: RunRecord): Promise<void> {
    const name = await this.#recall(address, record);
    const calls = this.#callsAbout(address);
    // Asked as late as possible: several calls may be about one address, and what is put last counts.
    if (calls.refusals.size > 0) await record.putRefusal(name, wordOf(calls).isRefused);
  }
}

/** A word is kept at each key of its contact. One that names no address of its channel counts for every address. */
function placesOf(channel: string, contacts: readonly string[]): string[] {
  const kind = contacts.some((key) => key.startsWith(`${channel}:`)) ? channel : `every ${channel}`;
  return contacts.map((key) => `${kind} ${key}`);
}

/** The places of the words by which a row's writes may be refused, and for which addresses each counts. */
function channelsAt({ said }: GuardedRow): (Pick<Word, "channel" | "addresses"> & { address: string })[] {
  return said.flatMap(({ consent, contacts }) => {
    const channels = [...new Set([...consent.keys(), "is_suppressed"])];
    return channels.flatMap((channel) =>
      contacts.flatMap((key) => [
        { channel, addresses: [key], address: `${channel} ${key}` },
        { channel, addresses: contacts, address: `every ${channel} ${key}` },
      ]),
    );
  });
}

/** Refused if a refusal ended after the last other word began: of two that were under way together nobody knows the later. */
function wordOf({ liftedAt, refusals }: Calls): { isRefused: boolean; moment: number } {
  const lastRefusal = Math.max(-1, ...refusals.values());
  return { isRefused: lastRefusal >= liftedAt, moment: Math.max(lastRefusal, liftedAt) };
}

/** What writes refuse, and what they say otherwise: each channel at each address. Of two words the refusal counts. */
function wordsOf(said: readonly ConsentWrite[]): { refused: Set<string>; others: Set<string> } {
  const words = { refused: new Set<string>(), others: new Set<string>() };
  for (const { consent, contacts } of said)
    for (const [channel, word] of consent) {
      if (word === decidedByService || word === "") continue;
      const kind = isRefusal(channel, word) ? "refused" : "others";
      for (const place of placesOf(channel, contacts)) words[kind].add(place);
    }
  return words;
}
