/** The index of the first item that is not before what is looked for, of items in order: their number where all are before it. */
export function firstIndex<Item>(items: readonly Item[], isBefore: (item: Item) => boolean): number {
  let [from, to] = [0, items.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (isBefore(items[middle]!)) from = middle + 1;
    else to = middle;
  }
  return from;
}
