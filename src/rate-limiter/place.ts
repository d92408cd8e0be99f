/** One call's place in the rate limit. The first of the three that is called counts; the others then do nothing. */
export interface Place {
  /** The answer's headers are here: the place comes back one window after now. */
  answered(): void;
  /**
   * Timed out, reset or cut: the place comes back one window after the call can last have arrived, which is
   * `arrivesWithinMs` from now (default 5 s).
   */
  lost(arrivesWithinMs?: number): void;
  /** The call never left this machine: the place is back at once. */
  unused(): void;
}

/** How a place ended. */
export type PlaceEnd = { state: "answered" | "unused" } | { state: "lost"; arrivesWithinMs: number };

// What was under way when a connection broke may still arrive, for as long as packets live in a slow network.
const defaultArrivesWithinMs = 5_000;

/** A place that tells once how it ended. */
export function createPlace(end: (end: PlaceEnd) => void): Place {
  let ended = false;
  const endOnce = (how: PlaceEnd): void => {
    if (ended) return;
    ended = true;
    end(how);
  };
  return {
    answered: () => endOnce({ state: "answered" }),
    lost: (arrivesWithinMs = defaultArrivesWithinMs) => endOnce({ state: "lost", arrivesWithinMs }),
    unused: () => endOnce({ state: "unused" }),
  };
}
