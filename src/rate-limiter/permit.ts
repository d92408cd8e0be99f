/** How a permit was used. */
export type PermitUse =
  /** The response's headers are here: the permit comes back one window after now. */
  | "responded"
  /**
   * Timed out, reset or cut: the permit comes back one window after the request can last have arrived, which is 5 s from
   * now.
   */
  | "lost"
  /** The request never left this machine: the permit is back at once. */
  | "unsent";

/** The right to send one request. */
export interface Permit {
  /** Gives it back. The first call counts; the others then do nothing. */
  release(use: PermitUse): void;
}

/**
 * How a permit ended: within how many milliseconds from now the request can still arrive, which is 0 where it was
 * responded to, and undefined where it never left.
 */
export type PermitEnd = number | undefined;

// What was under way when a connection broke may still arrive, for as long as packets live in a slow network.
const arrivesWithinMs = 5_000;

const endOf: Record<PermitUse, PermitEnd> = { responded: 0, lost: arrivesWithinMs, unsent: undefined };

/** A permit that tells once how it ended. */
export function createPermit(end: (end: PermitEnd) => void): Permit {
  let isReleased = false;
  return {
    release: (use) => {
      if (isReleased) return;
      isReleased = true;
      end(endOf[use]);
    },
  };
}
