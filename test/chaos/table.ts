import type { Dice } from "./dice.ts";
import { anyInput, withOtherConsent } from "./inputs.ts";
import { people } from "./people.ts";
import type { Row } from "./records.ts";

/** A table that is imported night after night, and changes meanwhile. */
export class Table {
  readonly #dice: Dice;
  #rows: readonly Row[] = [];

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  get rows(): readonly Row[] {
    return this.#rows;
  }

  /** Some rows change, a few leave, and new ones come. */
  nextNight(): readonly Row[] {
    const dice = this.#dice;
    const kept = this.#rows.filter(() => dice.chance(0.95)).map((row) => this.#changed(row));
    const known = new Set(kept.map(({ key }) => key));
    const newPeople = people.filter((person) => !known.has(`row-${person}`) && dice.chance(0.6));
    const added = newPeople.map((person): Row => ({
      key: `row-${person}`,
      person,
      input: anyInput(dice, person),
      note: 0,
    }));
    this.#rows = [...kept, ...added];
    return this.#rows;
  }

  #changed(row: Row): Row {
    const dice = this.#dice;
    const chance = dice.next();
    if (chance < 0.6) return row;
    if (chance < 0.75) return { ...row, note: dice.int(0, 2) };
    if (chance < 0.92) return { ...row, input: withOtherConsent(dice, row.input) };
    return { ...row, input: anyInput(dice, row.person) };
  }
}
