/** A clock that never runs back: where the given one is set back, no time has passed. */
export function monotonic(clock: () => number): () => number {
  let last = clock();
  let ahead = 0;
  return () => {
    const read = clock();
    if (read < last) ahead += last - read;
    last = read;
    return read + ahead;
  };
}
