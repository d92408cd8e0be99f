/** `total_pages`, `totalPages` and `total-pages` are one name; so are `_links` and `links`. */
export function plainName(key: string): string {
  return key.replace(/[\s_-]/g, "").toLowerCase();
}
