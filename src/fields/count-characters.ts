/** Code points, without an array of them all. */
export function countCharacters(given: string): number {
  let count = 0;
  for (let at = 0; at < given.length; at += 1) {
    if ((given.codePointAt(at) ?? 0) > 0xffff) at += 1;
    count += 1;
  }
  return count;
}
