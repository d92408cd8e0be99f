import { type ChannelMeanings, isFlag } from "./column-map.ts";
import { quotedWord } from "./contact-values.ts";
import { type Channel, channels, type OptIn, optIns } from "./contact.ts";
import type { CsvRow } from "./csv-file.ts";
import type { Column, ConsentUse, FilePlan } from "./file-plan.ts";
import { refusedIn } from "./floor.ts";
import { anyDate, anyOther, isBlank, isMoment, partsOf, wordOf } from "./words.ts";

export const noWords = {
  /** The strictest state: 0 for none, 1 to 3 for those of `optIns`, and between 0 and 1 `unnamed`. */
  email: 0,
  phone: 0,
  /** The strictest plain refusal in any cell, which holds back what is better; or `always` for a word that nobody knows. */
  emailHold: 0,
  phoneHold: 0,
  isSuppressed: 0,
};

/** What a word says that the map has only as `*`: less than any state, and more than silence (D295). */
const unnamed = 0.5;

/** Holds back whatever the state is. */
export const always = optIns.length + 1;

/** What is said of a person, each as a number of which the largest counts. */
export type Words = typeof noWords;

export const parts = Object.keys(noWords) as (keyof Words)[];

const unsubscribed = optIns.length;

/** What both say: the strictest counts. */
export function joined(one: Readonly<Words>, other: Readonly<Words>): Words {
  const all = { ...one };
  for (const part of parts) all[part] = Math.max(one[part], other[part]);
  return all;
}

/** What is said under each key: an address, a number or an id. */
export class WordsByKey extends Map<string, Readonly<Words>> {
  /** Joins the words with those of the key. */
  join(key: string, words: Readonly<Words>): void {
    this.set(key, joined(this.of(key), words));
  }

  of(key: string): Readonly<Words> {
    return this.get(key) ?? noWords;
  }
}

/** The words without the opt-ins. */
export function withoutOptIns(words: Readonly<Words>): Words {
  return { ...words, email: words.email === 1 ? 0 : words.email, phone: words.phone === 1 ? 0 : words.phone };
}

/** The words about one channel. */
export function ofChannel(words: Readonly<Words>, channel: Channel): Words {
  return { ...noWords, [channel]: words[channel], [`${channel}Hold`]: words[`${channel}Hold`] };
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

/** What a cell means by the map, also as a list of words; undefined if the map does not name it, which is never guessed. */
export function meaningsIn({ words }: ConsentUse, word: string): ChannelMeanings[] | undefined {
  const one = meaningOf(words, word);
  if (one !== undefined) return [one];
  const all = partsOf(word).map((part) => meaningOf(words, part));
  const known = all.filter((part) => part !== undefined);
  if (known.length === all.length) return known;
  const other = words.get(anyOther);
  // "yes, but not by e-mail": a word that nobody has seen may end the opt-in beside it.
  return other && [...known.map(meaningsWithoutOptIn), other];
}

const meaningsWithoutOptIn = (meanings: ChannelMeanings): ChannelMeanings =>
  Object.fromEntries(Object.entries(meanings).filter(([, meaning]) => meaning !== "SUBSCRIBED"));

function meaningOf(words: ConsentUse["words"], word: string): ChannelMeanings | undefined {
  const own = words.get(word);
  if (own !== undefined) return own;
  if (isBlank(word)) return words.get("") ?? {};
  return isMoment(word) ? words.get(anyDate) : undefined;
}

/** A cell of a column of consent; without meanings its word is one that the map does not name. */
export interface ConsentCell {
  readonly column: Column;
  readonly word: string;
  readonly meanings: readonly ChannelMeanings[] | undefined;
}

/** A cell that is a plain refusal, in a column whose map does not name it. */
export interface RefusingCell extends Pick<ConsentCell, "column" | "word"> {
  readonly refused: readonly Channel[];
}

/** What one row says of the consents. */
export interface RowWords {
  /** With what the file means as a whole. */
  readonly words: Readonly<Words>;
  readonly ofCells: Readonly<Words>;
  readonly consentCells: readonly ConsentCell[];
  readonly refusing: readonly RefusingCell[];
  /** The words that hold the row back, with the reasons. */
  readonly held: Readonly<Record<Channel, readonly string[]>>;
}

/** Reads what the cells of a row say of the consents; of a misshapen line nobody knows what its cells mean. */
export function readWords({ columns, everyone }: FilePlan, row: CsvRow): RowWords {
  const ofCells = { ...noWords };
  const consentCells: ConsentCell[] = [];
  const refusing: RefusingCell[] = [];
  const held: Record<Channel, string[]> = { email: [], phone: [] };
  const raise = (part: keyof Words, value: number) => {
    ofCells[part] = Math.max(ofCells[part], value);
  };
  const hold = ({ name }: Column, word: string, of: readonly Channel[], why: string) => {
    for (const channel of of) {
      raise(`${channel}Hold`, always);
      held[channel].push(`${name}: ${quotedWord(word)}: ${why}`);
    }
  };
  if (row.shapeIssue) Object.assign(ofCells, { emailHold: always, phoneHold: always });
  for (const column of row.shapeIssue ? [] : columns) {
    const { use } = column;
    const text = row.cell(column.index);
    const word = wordOf(text ?? "");
    if (typeof use === "object") {
      const meanings = meaningsIn(use, word);
      if (!isBlank(word)) consentCells.push({ column, word, meanings });
      if (meanings === undefined) hold(column, word, use.channels, "the map does not name it");
      const other = use.words.get(anyOther);
      if (other && meanings?.includes(other)) for (const channel of use.channels) raise(channel, unnamed);
      for (const channel of channels)
        for (const { [channel]: meaning = "none" } of meanings ?? [])
          if (meaning === "hold") hold(column, word, [channel], "the map holds it back");
          else if (meaning !== "none") raise(channel, valueOf(meaning));
    }
    if (text === undefined) continue;
    if (use === "is_suppressed" && word === "true") raise("isSuppressed", 1);
    else if (isFlag(use) && !/^(true|false)$/.test(word))
      hold(column, word, ["email"], "it must be true or false");
    // A meaning that the map gives this very word in this column goes first.
    const isNamed = typeof use === "object" && use.words.has(word);
    const refused = isNamed ? [] : refusedIn(text);
    if (refused.length > 0) refusing.push({ column, word, refused });
    for (const channel of refused) raise(`${channel}Hold`, unsubscribed);
  }
  const ofAll = { ...noWords };
  for (const channel of channels) ofAll[channel] = everyone[channel] ? valueOf(everyone[channel]) : 0;
  return { words: joined(ofCells, ofAll), ofCells, consentCells, refusing, held };
}
