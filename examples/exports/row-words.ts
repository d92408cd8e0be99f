import type { ChannelMeanings } from "./column-map.ts";
import { type Channel, channels, type OptIn, optIns } from "./contact.ts";
import type { Column, ColumnUse, FilePlan } from "./file-plan.ts";
import { type Refusal, refusalIn } from "./floor.ts";
import { anyDate, anyOther, isBlank, isMoment, mayBeMoment, partsOf, wordOf } from "./words.ts";

export const noWords = {
  /** The strictest state: 0 for none, 1 to 3 for those of `optIns`. */
  email: 0,
  phone: 0,
  /** The strictest plain refusal in any cell: nothing better is sent. */
  emailFloor: 0,
  phoneFloor: 0,
  /** 1 if a word holds the person back. */
  emailHold: 0,
  phoneHold: 0,
  isSuppressed: 0,
};

/** What is said of a person, each as a number of which the largest counts. */
export type Words = typeof noWords;

const parts = Object.keys(noWords) as (keyof Words)[];

const unsubscribed = optIns.length;

/** What both say: the strictest counts. */
export function joined(one: Readonly<Words>, other: Readonly<Words>): Words {
  const all = { ...one };
  for (const part of parts) all[part] = Math.max(one[part], other[part]);
  return all;
}

// Most people have the same words: they share one object.
const shared = new Map<string, Words>();

/** Joins the words with those of the key. */
export function join(known: Map<string, Words>, key: string, words: Readonly<Words>): void {
  const all = joined(known.get(key) ?? noWords, words);
  const name = parts.map((part) => all[part]).join();
  if (!shared.has(name)) shared.set(name, all);
  known.set(key, shared.get(name)!);
}

/** The words without the opt-ins. */
export function withoutOptIns(words: Readonly<Words>): Words {
  return { ...words, email: words.email === 1 ? 0 : words.email, phone: words.phone === 1 ? 0 : words.phone };
}

/** The words about one channel. */
export function ofChannel(words: Readonly<Words>, channel: Channel): Words {
  const [state, floor, hold] = [channel, `${channel}Floor`, `${channel}Hold`] as const;
  return { ...noWords, [state]: words[state], [floor]: words[floor], [hold]: words[hold] };
}

export const isNothing = (words: Readonly<Words>) => parts.every((part) => words[part] === 0);

/** Whether the words are a refusal, or may be one. */
export function mayRefuse(words: Readonly<Words>): boolean {
  const { email, phone, ...others } = words;
  return Math.max(email, phone) === unsubscribed || Object.values(others).some((value) => value > 0);
}

/** The state of a number; undefined for 0. */
export const stateOf = (value: number): OptIn | undefined => optIns[value - 1];

export const valueOf = (optIn: OptIn) => optIns.indexOf(optIn) + 1;

type ConsentUse = Extract<ColumnUse, { kind: "consent" }>;

/** What a cell means by the map, also as a list of words; undefined if the map does not name it, which is never guessed. */
export function meaningsIn(
  { words }: Pick<ConsentUse, "words">,
  word: string,
): ChannelMeanings[] | undefined {
  const one = meaningOf(words, word);
  if (one !== undefined) return [one];
  const all = partsOf(word).map((part) => meaningOf(words, part));
  // "[]" is an empty list.
  if (all.length === 0) return /^[[({].*[\])}]$/s.test(word) ? [words.get("") ?? {}] : undefined;
  const known = all.filter((part) => part !== undefined);
  if (known.length === all.length) return known;
  const other = words.get(anyOther);
  return other && [...known, other];
}

function meaningOf(words: ConsentUse["words"], word: string): ChannelMeanings | undefined {
  const own = words.get(word);
  if (own !== undefined) return own;
  if (isBlank(word)) return words.get("") ?? {};
  const ofDays = words.get(anyDate);
  const isRefusal = Object.values(ofDays ?? {}).every((meaning) => meaning === "UNSUBSCRIBED");
  // A day in a language that nobody guesses may only refuse.
  return isMoment(word) || (isRefusal && mayBeMoment(word)) ? ofDays : undefined;
}

/** A cell of a column of consent; without meanings its word is one that the map does not name. */
export interface ConsentCell {
  readonly column: Column;
  readonly word: string;
  readonly meanings: readonly ChannelMeanings[] | undefined;
}

/** A cell that is a plain refusal, in a column whose map does not name it. */
export interface RefusingCell {
  readonly column: Column;
  readonly word: string;
  readonly refusal: Refusal;
}

/** Collects what the cells of one row say of the consents. */
export class RowWords {
  /** What the cells say, without the file as a whole. */
  readonly ofCells: Words = { ...noWords };
  readonly cells: ConsentCell[] = [];
  readonly refusing: RefusingCell[] = [];
  /** The words that hold the row back, with the reasons. */
  readonly held: Record<Channel, string[]> = { email: [], phone: [] };
  readonly #everyone: Words = { ...noWords };

  constructor({ everyone }: FilePlan) {
    for (const channel of channels) {
      const optIn = everyone[channel];
      if (optIn !== undefined) this.#everyone[channel] = valueOf(optIn);
    }
  }

  get words(): Words {
    return joined(this.ofCells, this.#everyone);
  }

  read(column: Column, text: string | undefined): void {
    const { use } = column;
    const word = wordOf(text ?? "");
    if (use.kind === "consent") this.#readConsent(column, use, word);
    if (text === undefined) return;
    if (use.kind === "suppression") this.#readSuppression(column, word);
    // A meaning that the map gives this very word in this column goes first.
    if (use.kind === "consent" && use.words.has(word)) return;
    const refusal = refusalIn(text);
    if (refusal === undefined) return;
    this.refusing.push({ column, word, refusal });
    for (const channel of refusal.channels) this.#raise(`${channel}Floor`, valueOf(refusal.optIn));
  }

  /** Takes a line of which nobody knows what its cells mean. */
  hold(): void {
    Object.assign(this.ofCells, { emailHold: 1, phoneHold: 1 });
  }

  #readConsent(column: Column, use: ConsentUse, word: string): void {
    const meanings = meaningsIn(use, word);
    if (word !== "") this.cells.push({ column, word, meanings });
    if (meanings === undefined) this.#hold(column, word, use.channels, "the map does not name it");
    for (const each of meanings ?? [])
      for (const channel of channels) {
        const meaning = each[channel];
        if (meaning === "hold") this.#hold(column, word, [channel], "the map holds it back");
        else if (meaning !== undefined && meaning !== "none") this.#raise(channel, valueOf(meaning));
      }
  }

  #readSuppression(column: Column, word: string): void {
    if (word === "true") this.#raise("isSuppressed", 1);
    else if (word !== "false") this.#hold(column, word, ["email"], "it must be true or false");
  }

  #hold({ name }: Column, word: string, of: readonly Channel[], why: string): void {
    for (const channel of of) {
      this.#raise(`${channel}Hold`, 1);
      this.held[channel].push(`${name}: ${JSON.stringify(word)}: ${why}`);
    }
  }

  #raise(part: keyof Words, value: number): void {
    this.ofCells[part] = Math.max(this.ofCells[part], value);
  }
}
