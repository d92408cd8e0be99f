/** One call's place in the rate limit. The first of the three that is called counts; the others then do nothing. */
export interface Place {
  /** The answer's headers are here: the place comes back one window after now. */
  answered(): void;
  /**
   * Timed out, reset or cut: the place comes back one window after the call can last have arrived, which is 5 s from
   * now.
   */
  lost(): void;
  /** The call never left this machine: the place is back at once. */
  unused(): void;
}

/**
 * How a place ended: within how many milliseconds from now the call can still arrive, which is 0 where it was answered,
 * and undefined where it never left.
 */
export type PlaceEnd = number | undefined;

// What was under way when a connection broke may still arrive, for as long as packets live in a slow network.
const arrivesWithinMs = 5_000;

/** A place that tells once how it ended. */
export function createPlace(end: (end: PlaceEnd) => void): Place {
  let ended = false;
  const endOnce = (how: PlaceEnd): void => {
    if (ended) return;
    ended = true;
    end(how);
  };
  return {
    answered: () => endOnce(0),
    lost: () => endOnce(arrivesWithinMs),
    unused: () => endOnce(undefined),
  };
}
