/** `total_pages`, `totalPages` and `total-pages` are one name; so are `_links` and `links`. */
export function plainName(key: string): string {
  return key.replace(/[\s_-]/g, "").toLowerCase();
}

/**
 * The one of `names` that differs from `given` only in case and separators (`firstName` → `first_name`), or by one typing
 * error (`frist_name` → `first_name`).
 */
export function nameMeant(given: string, names: Iterable<string>): string | undefined {
  // Longer than any known name: do not normalize a string of megabytes.
  if (given.length > longestName) return undefined;
  const wanted = plainName(given);
  let slip: string | undefined;
  for (const name of names) {
    const plain = plainName(name);
    if (plain === wanted) return name;
    if (isOneSlipAway(plain, wanted)) slip ??= name;
  }
  return slip;
}

const longestName = 64;
// A shorter name with one letter changed is often another name.
const shortestSlip = 5;

/** One letter added, missing or wrong, or two letters swapped. */
function isOneSlipAway(a: string, b: string): boolean {
  if (Math.min(a.length, b.length) < shortestSlip || Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  // Ends, because the two names differ.
  while (a[start] === b[start]) start++;
  const [restOfA, restOfB] = [a.slice(start), b.slice(start)];
  if (restOfA.slice(1) === restOfB || restOfA === restOfB.slice(1)) return true;
  if (restOfA.slice(1) === restOfB.slice(1)) return true;
  return restOfA[0] === restOfB[1] && restOfA[1] === restOfB[0] && restOfA.slice(2) === restOfB.slice(2);
}
