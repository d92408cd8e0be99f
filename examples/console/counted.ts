/** Formats a number: `2,000`. */
export function inFull(count: number): string {
  return count.toLocaleString("en");
}

/** A number and what it counts: `1 row`, `2,000 rows`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${inFull(count)} ${count === 1 ? noun : plural}`;
}
