import { type ConsentWrite, decidedByService } from "../../consent.ts";
import type { Outcome } from "../../errors.ts";
import type { Target } from "../../organization.ts";
import { unlessLate } from "../../transport/abort.ts";
import type { ConsentListener, FamilyIdentity } from "../../transport/call.ts";
import { channelsAt, type Guard, type GuardedRow, nextMoment, type Word } from "../guard.ts";
import type { RunRecord } from "../record.ts";
import { isRefusal } from "../refusals.ts";

/** What other calls have said of a channel at one address of a contact. */
interface Calls {
  /** The refusals that stand, each with the moment at which it ended; Infinity while it is under way. */
  readonly refusals: Map<ConsentWrite, number>;
  /** When the last applied call began that said otherwise; 0 if none did. */
  liftedAt: number;
}

/** Another call does not wait longer for a record (D154). */
const longestWaitMs = 2_000;
const slowRecord =
  "the checkpoint of a bulk run is slow: other calls go on before their refusals are recorded, and a crash now would lose them";

/** Knows the refusals that other calls of this process write, from the begin of the run on. */
export class ProcessGuard implements Guard, ConsentListener {
  readonly name = "the process";
  readonly maxAgeMs = 0;
  readonly #target: Target;
  readonly #record: Promise<RunRecord | undefined>;
  readonly #warnOnce: (message: string) => void;
  /** By channel and key. */
  readonly #addresses = new Map<string, Calls>();
  readonly #beganAt = new WeakMap<ConsentWrite, number>();
  readonly #pending = new Set<Promise<void>>();
  #isSlow = false;

  constructor(target: Target, record: Promise<RunRecord | undefined>, warnOnce: (message: string) => void) {
    this.#target = target;
    this.#record = record;
    this.#warnOnce = warnOnce;
  }

  concerns(families: readonly FamilyIdentity[]): boolean {
    return families.some(({ name, baseUrl, key }) =>
      this.#target.families.some(
        (family) => family.name === name && family.baseUrl === baseUrl && family.key.isSameAs(key),
      ),
    );
  }

  async begins(write: ConsentWrite): Promise<void> {
    this.#beganAt.set(write, nextMoment());
    const { refused } = wordsOf(write);
    for (const address of refused) this.#callsAbout(address).refusals.set(write, Infinity);
    await this.#recorded(refused, true);
  }

  async ended(write: ConsentWrite, outcome: Outcome, applied: ConsentWrite = write): Promise<void> {
    const wasDone = outcome === "applied" || outcome === "unknown";
    const beganAt = this.#beganAt.get(write) ?? nextMoment();
    const { refused, others } = wordsOf(applied);
    for (const address of refused) {
      const { refusals } = this.#callsAbout(address);
      if (wasDone) refusals.set(write, nextMoment());
      else refusals.delete(write);
    }
    if (outcome !== "applied") return;
    const lifted = others.filter((address) => {
      const calls = this.#callsAbout(address);
      calls.liftedAt = Math.max(calls.liftedAt, beganAt);
      // What ended before it began is over; of what was under way beside it nobody knows which came last.
      for (const [refusal, endedAt] of calls.refusals) if (endedAt < beganAt) calls.refusals.delete(refusal);
      return calls.refusals.size === 0;
    });
    await this.#recorded(lifted, false);
  }

  ask(row: GuardedRow): Word[] {
    if (this.#addresses.size === 0) return [];
    return channelsAt(row).flatMap(({ channel, key }): Word[] => {
      const calls = this.#addresses.get(`${channel} ${key}`);
      if (!calls) return [];
      const isRefused = calls.refusals.size > 0;
      const moment = isRefused ? Math.max(...calls.refusals.values()) : calls.liftedAt;
      return [{ by: "process", channel, addresses: [key], isRefused, moment }];
    });
  }

  /** Resolves when what it knows is recorded. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending);
  }

  #callsAbout(address: string): Calls {
    const known = this.#addresses.get(address) ?? { refusals: new Map(), liftedAt: 0 };
    this.#addresses.set(address, known);
    return known;
  }

  /** So that they are known after a kill, until the run is over. A failure ends the run, and not the call. */
  async #recorded(addresses: readonly string[], isRefused: boolean): Promise<void> {
    if (addresses.length === 0) return;
    const recording = this.#record.then(async (record) => {
      if (record) await Promise.all(addresses.map((address) => record.putRefusal(address, isRefused)));
    });
    const settled = recording.catch(() => undefined).finally(() => this.#pending.delete(settled));
    this.#pending.add(settled);
    if (this.#isSlow) return;
    await unlessLate(settled, longestWaitMs, () => {
      this.#warnOnce(slowRecord);
      this.#isSlow = true;
      void settled.then(() => (this.#isSlow = false));
    });
  }
}

/** What a write refuses, and what it says otherwise: each channel at each address. Of two words the refusal counts. */
function wordsOf({ consent, contacts }: ConsentWrite): { refused: string[]; others: string[] } {
  const words = { refused: [] as string[], others: [] as string[] };
  for (const [channel, word] of consent) {
    if (word === decidedByService || word === "") continue;
    const isRefused = word.split(" ").some((each) => isRefusal(channel, each));
    words[isRefused ? "refused" : "others"].push(...contacts.map((key) => `${channel} ${key}`));
  }
  return words;
}

/** Knows the refusals that other calls wrote before this run was killed. */
export class EarlierProcessGuard implements Guard {
  readonly name = "the process";
  readonly maxAgeMs = Infinity;
  readonly #record: RunRecord;

  constructor(record: RunRecord) {
    this.#record = record;
  }

  async ask(row: GuardedRow): Promise<Word[]> {
    if (!this.#record.hasRefusals) return [];
    const asked = channelsAt(row).map(async ({ channel, key }): Promise<Word[]> => {
      const isRefused = await this.#record.isRefused(`${channel} ${key}`);
      return isRefused ? [{ by: "process", channel, addresses: [key], isRefused, moment: 0 }] : [];
    });
    return (await Promise.all(asked)).flat();
  }
}
