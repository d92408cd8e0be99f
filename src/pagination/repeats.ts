/** What is remembered of the pages before, to know an item and a page again. Its size does not grow with the list. */
export interface Repeats {
  /** The ids of the page before, and undefined where an item showed none; an empty page leaves them. */
  readonly idsBefore: ReadonlySet<string | undefined>;
  readonly pagesWithoutNewItem: number;
  readonly round: Round;
}

/** One earlier page, known again by its ends, as in Brent's search for a cycle: it moves on in growing strides. */
interface Round {
  readonly mark: string | undefined;
  readonly pagesSince: number;
  readonly stride: number;
  readonly sightings: number;
}

export const nothingSeen: Repeats = {
  idsBefore: new Set(),
  pagesWithoutNewItem: 0,
  round: { mark: undefined, pagesSince: 0, stride: 1, sightings: 0 },
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
      round: walk(before.round, markOf(ids)),
    },
  };
}

/** Whether pages come in a circle that is longer than one page: the same one, seen three times. */
export function isGoingRound(repeats: Repeats): boolean {
  return repeats.round.sightings >= 2;
}

function isKnown(before: Repeats, id: string | undefined): boolean {
  return id !== undefined && before.idsBefore.has(id);
}

function markOf(ids: readonly (string | undefined)[]): string | undefined {
  const [first, last] = [ids[0], ids.at(-1)];
  return first === undefined || last === undefined ? undefined : JSON.stringify([ids.length, first, last]);
}

function walk(round: Round, mark: string | undefined): Round {
  if (mark === undefined) return round;
  const pagesSince = round.pagesSince + 1;
  if (mark === round.mark) return { ...round, pagesSince, sightings: round.sightings + 1 };
  if (pagesSince < round.stride) return { ...round, pagesSince };
  return { mark, pagesSince: 0, stride: round.stride * 2, sightings: 0 };
}
