/** `total_pages`, `totalPages` and `total-pages` are one name; so are `_links` and `links`. */
export function plainName(key: string): string {
  return key.replace(/[_-]/g, "").toLowerCase();
}

/** Plain names, with blanks between them. */
export function nameSet(list: string): ReadonlySet<string> {
  return new Set(list.split(" "));
}
