/** The choices of one run: first those of an earlier run, then the first option of each. */
export class Choices {
  readonly #taken: { index: number; readonly options: number }[];
  #next = 0;

  constructor(taken: { index: number; options: number }[] = []) {
    this.#taken = taken;
  }

  pick<Option>(options: readonly Option[]): Option {
    const choice = (this.#taken[this.#next] ??= { index: 0, options: options.length });
    if (choice.options !== options.length) throw new Error("The run is not the same when it is repeated.");
    this.#next += 1;
    return options[choice.index]!;
  }

  /** The choices of the next run: the last choice that has an option left takes it. Undefined after the last run. */
  following(): Choices | undefined {
    const taken = this.#taken.slice(0, this.#next);
    while (taken.length > 0) {
      const last = taken.pop()!;
      if (last.index + 1 < last.options) return new Choices([...taken, { ...last, index: last.index + 1 }]);
    }
    return undefined;
  }
}

/**
 * Runs a program once for every sequence of choices, and returns the number of runs.
 *
 * It keeps no states: each run begins anew, repeats the choices of the run before up to one, and takes the next option there.
 */
export async function everySchedule(run: (choices: Choices) => Promise<void>): Promise<number> {
  let runs = 0;
  for (let choices: Choices | undefined = new Choices(); choices; choices = choices.following()) {
    await run(choices);
    runs += 1;
  }
  return runs;
}
