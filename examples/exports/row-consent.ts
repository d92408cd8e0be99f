import { anyDate } from "./column-cells.ts";
import type { Meaning } from "./column-map.ts";
import { type Channel, type OptIn, stricter } from "./contact.ts";
import { type Column, type ConsentColumn, type FilePlan, shownHeading } from "./file-plan.ts";
import { refusalIn } from "./floor.ts";
import { parseNote } from "./report-note.ts";
import { isBlank, isMoment, partsOf, wordOf } from "./words.ts";

/** The consent of one channel in a row. */
export interface Said {
  /** The strictest state of all cells; undefined if there is none. */
  readonly optIn: OptIn | undefined;
  /** The words that hold the row back, with their headings. */
  readonly notUnderstood: readonly string[];
  /** The strictest plain English refusal in a cell of any column: nothing better is sent. */
  readonly refusal: OptIn | undefined;
  /** Whether a column of the channel refuses: the refusal counts even without an address or number. */
  readonly isRefusedByName: boolean;
}

/** A cell of a column of consent; `undefined` is a word that the map does not name. */
export interface ConsentCell {
  readonly column: Column;
  readonly word: string;
  readonly meaning: Meaning | undefined;
}

/** The consent of each channel in a row. */
export type RowSaid = Readonly<Record<Channel, Said>> & { readonly isSuppressed: boolean };

const strictest: Readonly<Record<Meaning, number>> = {
  none: 0,
  SUBSCRIBED: 1,
  NON_SUBSCRIBED: 2,
  hold: 3,
  UNSUBSCRIBED: 4,
};

/** The meaning of a cell by the map; undefined for a word that it does not name, which is never guessed. */
export function meaningOf({ words, isOfDays }: ConsentColumn, word: string): Meaning | undefined {
  const own = words.get(word);
  if (own !== undefined) return own;
  if (isBlank(word) || (isOfDays && word === "never")) return words.get("") ?? "none";
  if (isMoment(word)) return words.get(anyDate);
  const parts = partsOf(word);
  // "[]" is an empty list.
  if (parts.length === 0) return /^[[({].*[\])}]$/s.test(word) ? (words.get("") ?? "none") : undefined;
  let found: Meaning | undefined;
  for (const part of parts) {
    const meaning = words.get(part) ?? (isBlank(part) ? "none" : undefined);
    if (meaning === undefined) return undefined;
    if (found === undefined || strictest[meaning] > strictest[found]) found = meaning;
  }
  return found;
}

/** Collects the consents of one row's cells. */
export class RowConsent {
  readonly cells: ConsentCell[] = [];
  readonly #stated: Record<Channel, { heading: string; optIn: OptIn }[]> = { email: [], phone: [] };
  readonly #notUnderstood: Record<Channel, string[]> = { email: [], phone: [] };
  readonly #refusals: { email?: OptIn | undefined; phone?: OptIn | undefined } = {};
  readonly #refusing: string[] = [];
  #isSuppressed = false;

  constructor({ everyone }: FilePlan) {
    if (everyone?.email !== undefined) this.#add("email", "the whole file", everyone.email);
    if (everyone?.phone !== undefined) this.#add("phone", "the whole file", everyone.phone);
  }

  read(column: Column, text: string | undefined): void {
    const { use } = column;
    if (use.kind === "consent") this.#readConsent(column, use.consent, text ?? "");
    if (text === undefined) return;
    if (use.kind === "suppression") this.#readSuppression(column, text);
    if (use.kind === "import note") this.#readNote(text);
    else if (use.kind !== "consent" || !use.consent.words.has(wordOf(text))) this.#readFloor(column, text);
  }

  said(): RowSaid {
    const of = (channel: Channel): Said => ({
      optIn: this.#stated[channel].reduce<OptIn | undefined>(
        (one, { optIn }) => stricter(one, optIn),
        undefined,
      ),
      notUnderstood: this.#notUnderstood[channel],
      refusal: this.#refusals[channel],
      isRefusedByName: this.#stated[channel].some(({ optIn }) => optIn !== "SUBSCRIBED"),
    });
    return { email: of("email"), phone: of("phone"), isSuppressed: this.#isSuppressed };
  }

  remarks(): string[] {
    const differing = (["email", "phone"] as const).flatMap((channel) => {
      const stated = this.#stated[channel];
      if (stated.length < 2 || new Set(stated.map(({ optIn }) => optIn)).size < 2) return [];
      const headings = [...new Set(stated.map(({ heading }) => heading))].join(", ");
      return [`${headings} disagree on the ${channel} consent: the strictest counts`];
    });
    return [...differing, ...this.#refusing];
  }

  #readConsent(column: Column, consent: ConsentColumn, text: string): void {
    const word = wordOf(text);
    const meaning = meaningOf(consent, word);
    if (text !== "") this.cells.push({ column, word, meaning });
    if (meaning === "none") return;
    for (const channel of consent.channels) {
      if (meaning === undefined || meaning === "hold") {
        const why = meaning === "hold" ? "the map holds it back" : "the map does not name it";
        this.#notUnderstood[channel].push(`${column.name}: ${JSON.stringify(text)}: ${why}`);
      } else this.#add(channel, shownHeading(column), meaning);
    }
  }

  #readSuppression(column: Column, text: string): void {
    const word = wordOf(text);
    if (word === "true") this.#isSuppressed = true;
    else if (word !== "false")
      this.#notUnderstood.email.push(`${column.name}: ${JSON.stringify(text)}: it must be true or false`);
  }

  #readFloor(column: Column, text: string): void {
    const refusal = refusalIn(text, column.heading);
    if (refusal === undefined) return;
    for (const channel of refusal.channels)
      this.#refusals[channel] = stricter(this.#refusals[channel], refusal.optIn);
    this.#refusing.push(
      `${shownHeading(column)} says ${JSON.stringify(wordOf(text))}, so nothing better is sent`,
    );
  }

  #readNote(text: string): void {
    const { email, phone, isSuppressed, refusals } = parseNote(text);
    if (email !== undefined) this.#add("email", "import: note", email);
    if (phone !== undefined) this.#add("phone", "import: note", phone);
    this.#refusals.email = stricter(this.#refusals.email, refusals.email);
    this.#refusals.phone = stricter(this.#refusals.phone, refusals.phone);
    this.#isSuppressed ||= isSuppressed;
  }

  #add(channel: Channel, heading: string, optIn: OptIn): void {
    this.#stated[channel].push({ heading, optIn });
  }
}
