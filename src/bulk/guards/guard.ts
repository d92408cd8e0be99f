import { refusalsOf } from "../../consent.ts";
import { TimeoutError } from "../../errors.ts";
import type { Profile } from "../../v1/schemas/profile.ts";
import { type KnownBy, type RestatedWrite, type RowWrite, withRefusals } from "../refusals.ts";
import type { SupersededReason } from "../result.ts";
import type { ReadRow } from "../rows.ts";

/** Knows refusals of the people of rows, or that a row must not go. */
export interface Guard {
  readonly name: string;
  /** How old its answer may be when a row leaves, in milliseconds; 0: it answers at that moment, at once. */
  readonly maxAgeMs: number;
  /** It is asked before each attempt; another only when its answer is missing or grows old. */
  readonly isAskedAlways?: boolean;
  /** Rejects with a `RowStop` if the row must not go. */
  ask(row: GuardedRow, signal: AbortSignal): readonly Word[] | Promise<readonly Word[]>;
}

export interface GuardedRow extends ReadRow<unknown> {
  /** The id of the contact that the response of an earlier night gave. */
  readonly recordedId: string | undefined;
}

/** What is known of a channel at these addresses: whether it is refused. */
export interface Word {
  readonly by: KnownBy;
  readonly channel: string;
  /** Keys of the contact: one that a write names. */
  readonly addresses: readonly string[];
  readonly isRefused: boolean;
  /** Of two words the later one counts: a count of what happened (`nextMoment`); Infinity for one that nothing lifts. */
  readonly moment: number;
  readonly service?: Profile | undefined;
}

let moment = 0;

/** Counts what happens in this process, so that of two words the later one is known. */
export function nextMoment(): number {
  return ++moment;
}

/** Ends a row; thrown through the transport, so that no layer takes it for a failure of the call. */
export class RowStop extends Error {
  readonly why: { error: unknown } | { reason: SupersededReason; service: Profile | undefined };

  constructor(why: RowStop["why"], message?: string) {
    super(message);
    this.why = why;
  }
}

/** The row is not sent: its opt-outs are named. */
export function superseded(
  writes: readonly RowWrite[],
  cause: string,
  reason: SupersededReason,
  service?: Profile,
): RowStop {
  const optOuts = [...new Set(writes.flatMap(({ said }) => refusalsOf(said)))];
  const further = ` Nor was its opt-out of ${optOuts.join(" and ")}: send that by a call of its own.`;
  const message = `${cause}: the row was not sent, or not sent again.${optOuts.length > 0 ? further : ""}`;
  return new RowStop({ reason, service }, message);
}

/** The keys by which a word about the channel concerns a contact: its addresses of this kind, or else all its keys. */
export function addressesOf(channel: string, contacts: readonly string[]): readonly string[] {
  const addresses = contacts.filter((key) => key.startsWith(`${channel}:`));
  return addresses.length > 0 ? addresses : contacts;
}

const mostLateAnswers = 3;
/** An answer that is nearly too old is asked for again while a row still may go by it. */
const agingShare = 0.9;

/** Asks the guards of a run about one row: one runner for age, lateness and order. */
export class RowGuards {
  readonly #guards: readonly Guard[];
  readonly #row: GuardedRow;
  readonly #answers = new Map<Guard, { readonly askedAt: number; readonly words: readonly Word[] }>();
  readonly #late = new Map<Guard, number>();

  constructor(guards: readonly Guard[], row: GuardedRow) {
    this.#guards = guards;
    this.#row = row;
  }

  /** Asks, in their order, those whose answer is missing or nearly too old. Rejects with a `RowStop`. */
  async ask(signal: AbortSignal): Promise<void> {
    for (const guard of this.#guards) {
      if (this.#isYoung(guard, agingShare)) continue;
      // It grew old while the row waited.
      if (this.#answers.has(guard) && !guard.isAskedAlways) this.#countLate(guard);
      const askedAt = performance.now();
      this.#answers.set(guard, { askedAt, words: await guard.ask(this.#row, signal) });
      if (!this.#isYoung(guard)) this.#countLate(guard);
    }
  }

  get areFresh(): boolean {
    return this.#guards.every((guard) => this.#isYoung(guard));
  }

  /** An attempt leaves: what is asked always is asked again before the next. */
  leaves(): void {
    this.#late.clear();
    for (const guard of this.#guards) if (guard.isAskedAlways) this.#answers.delete(guard);
  }

  /** The write as it may leave now. Throws a `RowStop` if it cannot say what is known. */
  restated(write: RowWrite): RestatedWrite {
    const refusals = new Map<string, Word>();
    const words = this.#words();
    for (const channel of new Set(words.map((word) => word.channel))) {
      const about = words.filter((word) => word.channel === channel);
      // A word counts for its addresses alone.
      const newest = addressesOf(channel, write.contacts).map((address) => newestAt(address, about));
      const refusal = newest.find((word) => word?.isRefused);
      if (refusal) refusals.set(channel, refusal);
    }
    const restated = withRefusals(write, new Map([...refusals].map(([channel, { by }]) => [channel, by])));
    if (restated.unsaid.length === 0) return restated;
    const cause = `The contact has refused ${restated.unsaid.join(" and ")}, which the write cannot say`;
    // Safe: only known channels are restated.
    const { by, service } = refusals.get(restated.unsaid[0]!)!;
    throw superseded([write], cause, by === "service" && !service ? "snapshot" : by, service);
  }

  get service(): Profile | undefined {
    return this.#words().find((word) => word.service)?.service;
  }

  #words(): Word[] {
    return this.#guards.flatMap((guard) => {
      // Safe: guards of age 0 answer at once.
      if (guard.maxAgeMs === 0) return guard.ask(this.#row, never) as readonly Word[];
      return this.#answers.get(guard)?.words ?? [];
    });
  }

  /** Whether the answer of a guard is younger than this share of its age. */
  #isYoung(guard: Guard, share = 1): boolean {
    if (guard.maxAgeMs === 0) return true;
    const answer = this.#answers.get(guard);
    return answer !== undefined && performance.now() - answer.askedAt <= guard.maxAgeMs * share;
  }

  #countLate(guard: Guard): void {
    const late = (this.#late.get(guard) ?? 0) + 1;
    this.#late.set(guard, late);
    if (late < mostLateAnswers) return;
    const message =
      `${guard.name} was too old, three times: when a row leaves, an answer may be ${guard.maxAgeMs / 1_000} s old. ` +
      "The row was not sent, or not sent again.";
    throw new RowStop({
      error: new TimeoutError({ message, outcome: "not-sent", timeoutMs: guard.maxAgeMs }),
    });
  }
}

const never = new AbortController().signal;

/** Of two words at one moment the refusal, and of two refusals that of the first guard. */
function newestAt(address: string, words: readonly Word[]): Word | undefined {
  return words
    .filter(({ addresses }) => addresses.includes(address))
    .toSorted((a, b) => Math.sign(b.moment - a.moment) || Number(b.isRefused) - Number(a.isRefused))[0];
}
