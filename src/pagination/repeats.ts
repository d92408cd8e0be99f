/** The memory of earlier pages, to recognize repeated items and pages. Its size does not grow with the list. */
export interface Repeats {
  /** The ids of the last page with items; undefined for an item without an id. */
  readonly idsBefore: ReadonlySet<string | undefined>;
  readonly pagesWithoutNewItem: number;
  readonly cycle: Cycle;
}

/** One earlier page, identified by its first and last id, as in Brent's cycle detection: it advances in growing strides. */
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

/** A page, compared with the page before. */
export interface Comparison<T> {
  readonly newItems: readonly T[];
  /** The page repeats the page before, as from a server that ignores the page number. */
  readonly isSamePage: boolean;
  readonly repeats: Repeats;
}

/** Compares a page with the page before. */
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

/** Whether the pages form a cycle: the same page was seen three times. */
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
