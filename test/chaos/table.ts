import type { Dice } from "./dice.ts";
import { anyRow, type Input, withOtherAddress, withOtherConsent } from "./inputs.ts";
import type { Row } from "./records.ts";

/** A table that is imported night after night, and changes meanwhile. */
export class Table {
  readonly #dice: Dice;
  readonly #people: readonly number[];
  #rows: readonly Row[] = [];

  constructor(dice: Dice, people: readonly number[]) {
    this.#dice = dice;
    this.#people = people;
  }

  get rows(): readonly Row[] {
    return this.#rows;
  }

  /** Some rows change, a few leave, and new ones come. */
  nextNight(): readonly Row[] {
    const dice = this.#dice;
    const kept = this.#rows.filter(() => dice.chance(0.95)).map((row) => this.#changed(row));
    const known = new Set(kept.map(({ key }) => key));
    const added = this.#people.flatMap((person): Row[] => [
      ...(dice.chance(0.6) ? [this.#newRow(`row-${person}`, person)] : []),
      // Some people stand in the table under two keys.
      ...(dice.chance(0.1) ? [this.#newRow(`second-row-${person}`, person)] : []),
    ]);
    this.#rows = [...kept, ...added.filter(({ key }) => !known.has(key))];
    return this.#rows;
  }

  #newRow(key: string, person: number): Row {
    return { key, person, inputs: anyRow(this.#dice, person), isReadFirst: this.#dice.chance(0.1), note: 0 };
  }

  #changed(row: Row): Row {
    const dice = this.#dice;
    const chance = dice.next();
    if (chance < 0.6) return row;
    if (chance < 0.74) return { ...row, note: row.note + 1 };
    if (chance < 0.78) return { ...row, inputs: row.inputs.map(withOtherAddress) };
    if (chance < 0.92) {
      const isFirstAlone = dice.chance(0.3);
      const change = (input: Input, index: number) =>
        index === 0 || !isFirstAlone ? withOtherConsent(dice, input) : input;
      return { ...row, inputs: row.inputs.map(change) };
    }
    return { ...row, inputs: anyRow(dice, row.person) };
  }
}
