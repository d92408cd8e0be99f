/** Code points, without an array of them all. */
export function countCharacters(given: string): number {
  let count = 0;
  for (let at = 0; at < given.length; at += 1) {
    // True: there is a character at each place before the end.
    if (given.codePointAt(at)! > 0xffff) at += 1;
    count += 1;
  }
  return count;
}
