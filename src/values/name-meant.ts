/** `total_pages`, `totalPages` and `total-pages` are one name; so are `_links` and `links`. */
export function plainName(key: string): string {
  return key.replace(/[\s_-]/g, "").toLowerCase();
}

/** The one of `names` that differs from `given` only in case and separators: `first_name` for `firstName`. */
export function nameMeant(given: string, names: readonly string[]): string | undefined {
  const plain = plainName(given);
  return names.find((name) => plainName(name) === plain);
}
