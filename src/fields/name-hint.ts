/**
 * The name that was meant, where one of `names` differs from `given` in case and separators only:
 * `firstName` → `first_name`, `First-Name` → `first_name`.
 */
export function nameMeant(given: string, names: Iterable<string>): string | undefined {
  // Longer than any field's name: not worth normalizing a text of megabytes.
  if (given.length > longestName) return undefined;
  const wanted = bare(given);
  for (const name of names) if (name !== given && bare(name) === wanted) return name;
  return undefined;
}

const longestName = 64;

function bare(name: string): string {
  return name.replace(/[\s_-]/g, "").toLowerCase();
}
