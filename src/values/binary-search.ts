/** Of items in order the index of the first that is not before what is looked for, by binary search; their number if all are. */
export function firstIndex<Item>(items: ArrayLike<Item>, isBefore: (item: Item) => boolean): number {
  let [from, to] = [0, items.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (isBefore(items[middle]!)) from = middle + 1;
    else to = middle;
  }
  return from;
}
