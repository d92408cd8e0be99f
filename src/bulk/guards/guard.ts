import type { ConsentWrite } from "../../consent.ts";
import { type Outcome, TimeoutError } from "../../errors.ts";
import type { RowWrite } from "../../prepare-write.ts";
import { untilAborted } from "../../transport/abort-signal.ts";
import type { Turns } from "../../transport/turns.ts";
import type { Profile } from "../../v1/profile.ts";
import { type KnownBy, type RestatedWrite, withRefusals } from "../refusals.ts";
import type { SupersededReason } from "../result.ts";
import type { ReadRow } from "../rows.ts";

/** Asks what is known of the person of a row: refusals, or that the row must not go. */
export interface Guard {
  readonly name: string;
  /** How old the guard's answer may be when a row leaves, in milliseconds. */
  readonly maxAgeMs: number;
  /** Whether the guard is asked before each attempt; another only when its answer is missing or grows old. */
  readonly isAskedAlways?: boolean;
  /** Rejects with a `RowStop` if the row must not go. */
  ask(row: GuardedRow, signal: AbortSignal): Promise<Answer>;
}

/** What a guard answers. It grows old from `askedAt` on, on the clock of `performance.now()`. */
interface Answer {
  readonly words: readonly Word[];
  readonly askedAt: number;
}

export interface GuardedRow extends ReadRow<unknown> {
  /** The id of the contact that the response of an earlier night gave. */
  readonly recordedId: string | undefined;
  /** The id from a skipped row with one of these addresses, of which an earlier night kept a refusal. */
  readonly keptId: string | undefined;
}

/** What a guard knows of a channel at these addresses: whether it is refused. */
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

let lastMoment = 0;

/** Counts what happens in this process, so that of two words the later one is known. */
export function nextMoment(): number {
  return ++lastMoment;
}

/** The stop of a row by a guard; thrown through the transport, so that no layer takes it for a failure of the call. */
export class RowStop extends Error {
  /** `errorOf`: the row's error, by the outcome of what was sent of it. */
  readonly why:
    | { errorOf: (outcome: Outcome) => unknown }
    | { reason: SupersededReason; service: Profile | undefined };

  constructor(why: RowStop["why"], message?: string) {
    super(message);
    this.why = why;
  }
}

/** The stop of a row that is superseded. */
export function superseded(cause: string, reason: SupersededReason, service?: Profile): RowStop {
  return new RowStop({ reason, service }, `${cause}: the row was not sent, or not sent again.`);
}

/** The addresses of this kind among the keys. */
export function ofKind(channel: string, keys: readonly string[]): string[] {
  return keys.filter((key) => key.startsWith(`${channel}:`));
}

/** The keys by which a word about the channel concerns a contact: its addresses of this kind, or else all its keys. */
export function addressesOf(channel: string, contacts: readonly string[]): readonly string[] {
  const addresses = ofKind(channel, contacts);
  return addresses.length > 0 ? addresses : contacts;
}

/** The refusals among these words, by channel, that no newer word takes back at an address of the contact. */
export function refusalsAmong(words: readonly Word[], { contacts }: ConsentWrite): Map<string, Word> {
  const refusals = new Map<string, Word>();
  for (const word of words) {
    const { addresses, channel, isRefused, moment } = word;
    // Of two refusals that of the first guard.
    if (!isRefused || refusals.has(channel)) continue;
    const newerWords = words.filter((other) => other.channel === channel && other.moment > moment);
    const newerAddresses = new Set(newerWords.flatMap((newer) => newer.addresses));
    const concerned = addressesOf(channel, contacts).filter((address) => addresses.includes(address));
    if (concerned.some((address) => !newerAddresses.has(address))) refusals.set(channel, word);
  }
  return refusals;
}

const mostLateAnswers = 3;
/** An answer that is nearly too old is asked for again while a row still may go by it. */
const agingShare = 0.9;
const turnKeys = ["late"];

/** The guards of a run, what the process knows without being asked, and the turns of the rows. */
export interface GuardedRun {
  readonly guards: readonly Guard[];
  readonly processGuard: { wordsAbout(row: GuardedRow): readonly Word[] };
  readonly turns: Turns;
}

/** Asks the guards of a run about one row: one runner for age, lateness and order. */
export class RowGuards {
  readonly #run: GuardedRun;
  readonly #row: GuardedRow;
  readonly #answers = new Map<Guard, Answer>();
  readonly #lateAnswers = new Map<Guard, number>();
  /** Ends the row's turn among those whose answers grew old. */
  #endTurn: (() => void) | undefined;

  constructor(run: GuardedRun, row: GuardedRow) {
    this.#run = run;
    this.#row = row;
  }

  /** Asks, in their order, the guards whose answer is missing or nearly too old. Rejects with a `RowStop`. */
  async ask(signal: AbortSignal): Promise<void> {
    for (const guard of this.#run.guards) {
      if (this.#isYoung(guard, agingShare)) continue;
      if (this.#answers.has(guard) && !guard.isAskedAlways) await this.#takeTurn(guard, signal);
      this.#answers.set(guard, await guard.ask(this.#row, signal));
      if (!this.#isYoung(guard)) this.#countLateAnswer(guard);
    }
  }

  get areFresh(): boolean {
    return this.#run.guards.every((guard) => this.#isYoung(guard));
  }

  /** An attempt leaves: guards that are asked always are asked again before the next. */
  leaves(): void {
    this.end();
    this.#lateAnswers.clear();
    for (const guard of this.#run.guards) if (guard.isAskedAlways) this.#answers.delete(guard);
  }

  /** The row has ended, or leaves. */
  end(): void {
    this.#endTurn?.();
    this.#endTurn = undefined;
  }

  /** The write as it may leave now. Throws a `RowStop` if it cannot say what is known. */
  restated(write: RowWrite): RestatedWrite {
    const words = this.#words();
    const restated = withRefusals(write, (consent) => refusalsAmong(words, consent));
    const [refusal] = restated.unsaid.values();
    if (!refusal) return restated;
    const cause = `The contact has refused ${[...restated.unsaid.keys()].join(" and ")}, which the write cannot say`;
    const { by, service } = refusal;
    throw superseded(cause, by === "service" && !service ? "snapshot" : by, service);
  }

  get service(): Profile | undefined {
    return this.#words().find((word) => word.isRefused && word.service)?.service;
  }

  #words(): Word[] {
    const guardWords = this.#run.guards.flatMap((guard) => this.#answers.get(guard)?.words ?? []);
    return [...guardWords, ...this.#run.processGuard.wordsAbout(this.#row)];
  }

  /** Whether the answer of a guard is younger than this share of its highest age. */
  #isYoung(guard: Guard, ageShare = 1): boolean {
    const answer = this.#answers.get(guard);
    return answer !== undefined && performance.now() - answer.askedAt <= guard.maxAgeMs * ageShare;
  }

  /**
   * An answer grew old while the row waited for its permit: from now on such rows go one by one, as the questions of all of
   * them would use up the permits of their writes, again and again.
   */
  async #takeTurn(guard: Guard, signal: AbortSignal): Promise<void> {
    this.#countLateAnswer(guard);
    if (this.#endTurn) return;
    const earlierTurn = this.#run.turns.before(turnKeys);
    this.#endTurn = this.#run.turns.hold(turnKeys);
    if (earlierTurn) await untilAborted(earlierTurn, signal);
  }

  #countLateAnswer(guard: Guard): void {
    const count = (this.#lateAnswers.get(guard) ?? 0) + 1;
    this.#lateAnswers.set(guard, count);
    if (count < mostLateAnswers) return;
    const message =
      `${guard.name} was too old, three times: when a row leaves, an answer may be ${guard.maxAgeMs / 1_000} s old. ` +
      "The row was not sent, or not sent again.";
    throw new RowStop({
      errorOf: (outcome) => new TimeoutError({ message, outcome, timeoutMs: guard.maxAgeMs }),
    });
  }
}
