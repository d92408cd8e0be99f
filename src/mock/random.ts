/** A generator of numbers from 0 (included) to 1 (excluded). */
export type Random = () => number;

/** The mulberry32 generator, with a period of 2³². The same seed gives the same numbers. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A generator of ids in the form of UUIDs (version 4). The same seed gives the same ids. */
export function seededIds(seed: number): () => string {
  const random = seededRandom(seed);
  const word = () =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0");
  return () => {
    const [a, b, c, d] = [word(), word(), word(), word()];
    return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-8${c.slice(1, 4)}-${c.slice(4)}${d}`;
  };
}
