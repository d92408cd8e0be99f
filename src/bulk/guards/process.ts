import type { ConsentWrite } from "../../consent.ts";
import { decidedByService } from "../../consent.ts";
import type { Outcome } from "../../errors.ts";
import type { Target } from "../../organization.ts";
import { unlessLate } from "../../transport/abort.ts";
import type { ConsentListener, FamilyIdentity } from "../../transport/call.ts";
import { channelsAt, type Guard, type GuardedRow, nextMoment, type Word } from "../guard.ts";
import type { RunRecord } from "../record.ts";
import { isRefusal } from "../refusals.ts";

/** What other calls have said of a channel at one address. */
interface Address {
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
  readonly #record: Promise<RunRecord>;
  readonly #warn: (message: string) => void;
  /** By channel and key. */
  readonly #addresses = new Map<string, Address>();
  readonly #beganAt = new WeakMap<ConsentWrite, number>();
  readonly #pending = new Set<Promise<void>>();
  #isSlow = false;

  constructor(target: Target, record: Promise<RunRecord>, warn: (message: string) => void) {
    this.#target = target;
    this.#record = record;
    this.#warn = warn;
  }

  concerns(families: readonly FamilyIdentity[]): boolean {
    return families.some(({ name, baseUrl, key }) =>
      this.#target.families.some(
        (own) => own.name === name && own.baseUrl === baseUrl && own.key.isSameAs(key),
      ),
    );
  }

  async begins(write: ConsentWrite): Promise<void> {
    this.#beganAt.set(write, nextMoment());
    const refused = wordsOf(write).filter(({ isRefused }) => isRefused);
    for (const { at } of refused) this.#address(at).refusals.set(write, Infinity);
    if (refused.length > 0) await this.#recorded(refused.map(({ at }) => ({ at, isRefused: true })));
  }

  async ended(write: ConsentWrite, outcome: Outcome, applied: ConsentWrite = write): Promise<void> {
    const wasDone = outcome === "applied" || outcome === "unknown";
    const beganAt = this.#beganAt.get(write) ?? nextMoment();
    const lifted: string[] = [];
    for (const { at, isRefused } of wordsOf(applied)) {
      const address = this.#address(at);
      if (isRefused && wasDone) address.refusals.set(write, nextMoment());
      else if (isRefused) address.refusals.delete(write);
      else if (outcome === "applied") {
        address.liftedAt = Math.max(address.liftedAt, beganAt);
        // What ended before it began is over; of what was under way beside it nobody knows which came last.
        for (const [refusal, endedAt] of address.refusals)
          if (endedAt < beganAt) address.refusals.delete(refusal);
        if (address.refusals.size === 0) lifted.push(at);
      }
    }
    if (lifted.length > 0) await this.#recorded(lifted.map((at) => ({ at, isRefused: false })));
  }

  ask({ writes }: GuardedRow): Word[] {
    if (this.#addresses.size === 0) return [];
    return writes.flatMap((write) =>
      channelsAt(write).flatMap(({ channel, key }): Word[] => {
        const address = this.#addresses.get(`${channel} ${key}`);
        if (!address) return [];
        const isRefused = address.refusals.size > 0;
        const at = isRefused ? Math.max(...address.refusals.values()) : address.liftedAt;
        return [{ by: "process", channel, addresses: [key], isRefused, at }];
      }),
    );
  }

  /** Resolves when what it knows is recorded. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending);
  }

  #address(at: string): Address {
    const known = this.#addresses.get(at) ?? { refusals: new Map(), liftedAt: 0 };
    this.#addresses.set(at, known);
    return known;
  }

  /** So that they are known after a kill, until the run is over. A failure ends the run, and not the call. */
  async #recorded(changes: readonly { at: string; isRefused: boolean }[]): Promise<void> {
    const noted = this.#record.then(async (record) => {
      await Promise.all(changes.map(({ at, isRefused }) => record.noteRefusal(at, isRefused)));
    });
    const settled = noted.catch(() => undefined).finally(() => this.#pending.delete(settled));
    this.#pending.add(settled);
    if (this.#isSlow) return;
    await unlessLate(settled, longestWaitMs, () => {
      if (!this.#isSlow) this.#warn(slowRecord);
      this.#isSlow = true;
      void settled.then(() => (this.#isSlow = false));
    });
  }
}

/** What a write says at each of its addresses. Of a channel with two words the refusal counts. */
function wordsOf({ consent, contacts }: ConsentWrite): { at: string; isRefused: boolean }[] {
  return Object.entries(consent)
    .filter(([, word]) => word !== decidedByService)
    .flatMap(([channel, word]) => {
      const isRefused = word.split(" ").some((each) => isRefusal(channel, each));
      return contacts.map((key) => ({ at: `${channel} ${key}`, isRefused }));
    });
}

/** Knows the refusals that other calls wrote before this run was killed. */
export class EarlierProcessGuard implements Guard {
  readonly name = "the process";
  readonly maxAgeMs = Infinity;
  readonly #record: RunRecord;

  constructor(record: RunRecord) {
    this.#record = record;
  }

  async ask({ writes }: GuardedRow): Promise<Word[]> {
    if (!this.#record.hasRefusals) return [];
    const asked = writes.flatMap(channelsAt).map(async ({ channel, key }): Promise<Word[]> => {
      const isRefused = await this.#record.isRefused(`${channel} ${key}`);
      return isRefused ? [{ by: "process", channel, addresses: [key], isRefused, at: 0 }] : [];
    });
    return (await Promise.all(asked)).flat();
  }
}
