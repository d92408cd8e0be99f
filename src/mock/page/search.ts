/** A page shows no more of each; the search finds the others. */
export const SHOWN = 100;

/** The latest items that were found, and how many were. */
export interface Found<View> {
  items: View[];
  found: number;
}

export function newest<Item, View>(
  items: readonly Item[],
  isFound: (item: Item) => boolean,
  viewOf: (item: Item) => View,
  shown = SHOWN,
): Found<View> {
  const found = items.filter(isFound);
  return { items: found.slice(-shown).reverse().map(viewOf), found: found.length };
}

/** Whether the search finds an item by what the page shows of it, which is asked for only if there is a search. */
export type Matches = (shown: () => unknown) => boolean;

/** Each word must be there, in any case. */
export function matchesOf(find: string): Matches {
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  return (shown) => {
    if (words.length === 0) return true;
    const texts = textsOf(shown()).join("\n").toLowerCase();
    return words.every((word) => texts.includes(word));
  };
}

/** The values of an item, at any depth: what a page shows, without the names of fields. */
function textsOf(value: unknown): string[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(textsOf);
  return typeof value === "string" || typeof value === "number" ? [String(value)] : [];
}
