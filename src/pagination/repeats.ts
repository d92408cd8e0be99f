/** What is remembered of the pages before, to know an item and a page again. Its size does not grow with the list. */
export interface Repeats {
  /** The ids of the page before, and undefined where an item showed none; an empty page leaves them. */
  readonly idsBefore: ReadonlySet<string | undefined>;
  readonly pagesWithoutNewItem: number;
  readonly cycle: Cycle;
}

/** One earlier page, known again by its ends, as in Brent's search for a cycle: it moves on in growing strides. */
interface Cycle {
  readonly mark: string | undefined;
  readonly pagesSince: number;
  readonly stride: number;
  readonly sightings: number;
}

export const nothingSeen: Repeats = {
  idsBefore: new Set(),
  pagesWithoutNewItem: 0,
  cycle: { mark: undefined, pagesSince: 0, stride: 1, sightings: 0 },
};

/** A page, measured against the page before. */
export interface Comparison<T> {
  readonly newItems: readonly T[];
  /** All of the page before again, as from a server that does not heed the page number: more than a growing list pushed on. */
  readonly isSamePage: boolean;
  readonly repeats: Repeats;
}

/** Takes a page in: what of it is new, and what to remember of it. */
export function compareWithBefore<T>(
  before: Repeats,
  items: readonly T[],
  identify: (item: T) => string | undefined,
): Comparison<T> {
  const ids = items.map(identify);
  const idsHere = new Set(ids);
  const newItems = items.filter((_, at) => !isKnown(before, ids[at]));
  return {
    newItems,
    isSamePage: newItems.length === 0 && idsHere.size === before.idsBefore.size,
    repeats: {
      idsBefore: items.length === 0 ? before.idsBefore : idsHere,
      pagesWithoutNewItem: newItems.length === 0 ? before.pagesWithoutNewItem + 1 : 0,
      cycle: advanceCycle(before.cycle, markOf(ids)),
    },
  };
}

/** Whether pages come in a circle that is longer than one page: the same one, seen three times. */
export function isCycling(repeats: Repeats): boolean {
  return repeats.cycle.sightings >= 2;
}

function isKnown(before: Repeats, id: string | undefined): boolean {
  return id !== undefined && before.idsBefore.has(id);
}

function markOf(ids: readonly (string | undefined)[]): string | undefined {
  const [first, last] = [ids[0], ids.at(-1)];
  return first === undefined || last === undefined ? undefined : JSON.stringify([ids.length, first, last]);
}

function advanceCycle(cycle: Cycle, mark: string | undefined): Cycle {
  if (mark === undefined) return cycle;
  const pagesSince = cycle.pagesSince + 1;
  if (mark === cycle.mark) return { ...cycle, pagesSince, sightings: cycle.sightings + 1 };
  if (pagesSince < cycle.stride) return { ...cycle, pagesSince };
  return { mark, pagesSince: 0, stride: cycle.stride * 2, sightings: 0 };
}
