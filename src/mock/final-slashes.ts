/** A base URL as it is put before a path. By hand: an expression would look again from each slash of thousands. */
export function withoutFinalSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === "/") end -= 1;
  return url.slice(0, end);
}
