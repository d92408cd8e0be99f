/** Formats a number: `2,000`. */
export function inFull(count: number): string {
  return count.toLocaleString("en");
}

/** The first items of a list, and how many more there are. */
export function shortened(items: readonly string[], most: number): string[] {
  const further = items.length - most;
  return further > 0 ? [...items.slice(0, most), `and ${inFull(further)} more`] : [...items];
}

/** A number and what it counts: `1 row`, `2,000 rows`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${inFull(count)} ${count === 1 ? noun : plural}`;
}
