import { type ConsentWrite, decidedByService, isRefusal } from "../../consent.ts";
import type { Outcome } from "../../errors.ts";
import { shortHash } from "../../hash.ts";
import { isOfTarget } from "../../organization.ts";
import { unlessLate } from "../../transport/abort-signal.ts";
import type { FamilyIdentity } from "../../transport/api-key.ts";
import type { ConsentListener } from "../../transport/call.ts";
import type { RunParts } from "../run-parts.ts";
import type { RunRecord } from "../run-record.ts";
import { type GuardedRow, nextMoment, ofKind, type Word } from "./guard.ts";

/** What other calls have said of a channel at one key of a contact. */
interface OtherCalls {
  /** The calls that refuse, by the moment at which they ended: Infinity while under way, -1 if nothing was done. */
  readonly refusals: Map<readonly ConsentWrite[] | "before a kill", number>;
  /** When the last call began that was applied and says otherwise; 0 if none was. */
  liftedAt: number;
}

/** How long another call waits for the record of its refusal (D154). */
const longestWaitMs = 2_000;

/**
 * Knows what earlier rows of the run refuse, and what other calls of this process do: from the begin of the run on, and those
 * that the record has from before a kill.
 */
export class ProcessGuard implements ConsentListener {
  readonly #run: RunParts;
  readonly #record: Promise<RunRecord | undefined>;
  /** When a row refused, by channel key: Infinity by its own word, which nothing lifts. */
  readonly #refusedByRows = new Map<string, number>();
  /** Other calls, by channel key. */
  readonly #otherCalls = new Map<string, OtherCalls>();
  readonly #callsBeganAt = new WeakMap<readonly ConsentWrite[], number>();
  /** Until when calls wait together for the record to open, as where the run waits for a lock; Infinity once it is open. */
  #recordOpensBy = performance.now() + longestWaitMs;
  /** Resolves when all refusals of other calls so far are recorded. */
  recorded: Promise<unknown> = Promise.resolve();

  constructor(run: RunParts, record: Promise<RunRecord | undefined>) {
    this.#run = run;
    this.#record = record;
    record.then(() => (this.#recordOpensBy = Infinity)).catch(() => undefined);
  }

  /** A row was sent or skipped, or may have been sent: a later one may not lift what it refuses. */
  learn(consents: readonly ConsentWrite[]): void {
    for (const channelKey of wordsOfWrites(consents).refused) this.#refusedByRows.set(channelKey, Infinity);
  }

  /**
   * A row left with these words, or a look showed them, at that moment; a refusal among them need not be the row's own, so a
   * later word may lift it.
   */
  learnShown(consents: readonly ConsentWrite[], moment: number): void {
    const { refused, others } = wordsOfWrites(consents);
    const isNews = (channelKey: string) => (this.#refusedByRows.get(channelKey) ?? 0) < moment;
    for (const channelKey of refused) if (isNews(channelKey)) this.#refusedByRows.set(channelKey, moment);
    for (const channelKey of others) if (isNews(channelKey)) this.#refusedByRows.delete(channelKey);
  }

  concerns(callFamilies: readonly FamilyIdentity[]): boolean {
    return isOfTarget(this.#run.options.target, callFamilies);
  }

  async begins(consents: readonly ConsentWrite[]): Promise<void> {
    this.#callsBeganAt.set(consents, nextMoment());
    const { refused } = wordsOfWrites(consents);
    for (const channelKey of refused) this.#callsAbout(channelKey).refusals.set(consents, Infinity);
    const slow =
      "other calls do not wait for a slow checkpoint, or for its lock: a crash now would lose their refusals";
    const waitMs = Math.max(0, Math.min(longestWaitMs, this.#recordOpensBy - performance.now()));
    await unlessLate(this.#recordRefusals([...refused]), waitMs, () => this.#run.warnings.warnOnce(slow));
  }

  async ended(consents: readonly ConsentWrite[], outcome: Outcome, applied = consents): Promise<void> {
    const wasDone = outcome === "applied" || outcome === "unknown";
    const beganAt = this.#callsBeganAt.get(consents) ?? nextMoment();
    const { refused, others } = wordsOfWrites([...consents, ...applied]);
    for (const key of refused) this.#callsAbout(key).refusals.set(consents, wasDone ? nextMoment() : -1);
    for (const channelKey of outcome === "applied" ? others : []) {
      const calls = this.#callsAbout(channelKey);
      calls.liftedAt = Math.max(calls.liftedAt, beganAt);
    }
    // The begin of the call is recorded; it does not wait for more.
    void this.#recordRefusals([...refused, ...others]);
  }

  /** Before the row is judged: takes from the record what other calls refused before a kill. */
  async recallRefusals(row: GuardedRow): Promise<void> {
    const record = await this.#record;
    if (!record?.earlierRefusals.size) return;
    await Promise.all(keysAbout(row).map(({ channelKey }) => this.#recallRefusal(channelKey, record)));
  }

  wordsAbout(row: GuardedRow): Word[] {
    return keysAbout(row).flatMap(({ channelKey, ...word }): Word[] => {
      const [moment, calls] = [this.#refusedByRows.get(channelKey), this.#otherCalls.get(channelKey)];
      return [
        ...(moment === undefined ? [] : [{ ...word, by: "run" as const, isRefused: true, moment }]),
        ...(calls ? [{ ...word, by: "process" as const, ...wordOfCalls(calls) }] : []),
      ];
    });
  }

  #callsAbout(channelKey: string): OtherCalls {
    const calls = this.#otherCalls.get(channelKey) ?? { refusals: new Map(), liftedAt: 0 };
    this.#otherCalls.set(channelKey, calls);
    return calls;
  }

  /** Gives the name of the channel key in the record. */
  async #recallRefusal(channelKey: string, { earlierRefusals }: RunRecord): Promise<string> {
    const name = await shortHash(channelKey);
    if (earlierRefusals.has(name)) this.#callsAbout(channelKey).refusals.set("before a kill", 0);
    return name;
  }

  /** Records refusals for the time after a kill, until the run is over. A failure ends the run, and not the call. */
  async #recordRefusals(channelKeys: readonly string[]): Promise<void> {
    if (channelKeys.length === 0) return;
    const recording = this.#record
      .then((record) => record && Promise.all(channelKeys.map((key) => this.#recordRefusal(key, record))))
      .catch(() => undefined);
    this.recorded = this.recorded.then(() => recording);
    await recording;
  }

  async #recordRefusal(channelKey: string, record: RunRecord): Promise<void> {
    const name = await this.#recallRefusal(channelKey, record);
    const calls = this.#callsAbout(channelKey);
    // Asked as late as possible: several calls may be about one channel key, and what is put last counts.
    if (calls.refusals.size > 0) await record.putRefusal(name, wordOfCalls(calls).isRefused);
  }
}

/** The channel keys by which a row's writes may be refused, and for which addresses each counts. */
function keysAbout(row: GuardedRow): (Pick<Word, "channel" | "addresses"> & { channelKey: string })[] {
  return row.consents.flatMap(({ consent, contacts }) => {
    const channels = [...new Set([...consent.keys(), "is_suppressed"])];
    return channels.flatMap((channel) =>
      contacts.flatMap((key) => [
        { channel, addresses: [key], channelKey: `${channel} ${key}` },
        { channel, addresses: contacts, channelKey: `every ${channel} ${key}` },
      ]),
    );
  });
}

/** Calls refuse if a refusal ended after the last other word began: of two under way together nobody knows the later. */
function wordOfCalls({ liftedAt, refusals }: OtherCalls): { isRefused: boolean; moment: number } {
  const lastRefusal = Math.max(-1, ...refusals.values());
  return { isRefused: lastRefusal >= liftedAt, moment: Math.max(lastRefusal, liftedAt) };
}

/** What writes refuse, and what they say otherwise: each channel at each address. Of two words the refusal counts. */
function wordsOfWrites(consents: readonly ConsentWrite[]): { refused: Set<string>; others: Set<string> } {
  const words = { refused: new Set<string>(), others: new Set<string>() };
  for (const { consent, contacts } of consents)
    for (const [channel, word] of consent) {
      if (word === decidedByService || word === "") continue;
      const kind = isRefusal(channel, word) ? "refused" : "others";
      // Without an address of its channel a word counts for every one.
      const addressed = ofKind(channel, contacts).length > 0 ? channel : `every ${channel}`;
      for (const key of contacts) words[kind].add(`${addressed} ${key}`);
    }
  return words;
}
