/** Removes the final slashes of a base URL. A regular expression would take quadratic time on many slashes. */
export function withoutFinalSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === "/") end -= 1;
  return url.slice(0, end);
}
