/** How a permit was used. */
export type PermitUse =
  /** The response's headers are here: the permit comes back one window after now. */
  | "responded"
  /** Timed out, reset or cut: the permit comes back one window after the request can last have arrived. */
  | "lost"
  /** The request never left this machine: the permit is back at once. */
  | "unsent";

/** The right to send one request. */
export interface Permit {
  /** Gives it back. The first call counts; the others then do nothing. */
  release(use: PermitUse): void;
}

/** A request that was under way when its connection broke may still arrive, as long as packets live in a slow network. */
export const arrivalGraceMs = 5_000;

/** The time from which on a permit that was sent counts for one window. */
export function countsFrom(use: Exclude<PermitUse, "unsent">, now: number): number {
  return use === "lost" ? now + arrivalGraceMs : now;
}

/** A permit that is released once. */
export function createPermit(release: (use: PermitUse) => void): Permit {
  let isReleased = false;
  return {
    release: (use) => {
      if (isReleased) return;
      isReleased = true;
      release(use);
    },
  };
}
