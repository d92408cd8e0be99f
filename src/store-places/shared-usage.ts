import type { RateLimitWindow } from "../errors.ts";
import type { WindowUsage } from "../rate-limiter/sliding-window-log.ts";
import type { OwnPlaces } from "./own-places.ts";
import { limitInForce, type StoreWindow } from "./place-store.ts";
import type { SharedView } from "./shared-view.ts";

interface SharedState {
  readonly windows: readonly RateLimitWindow[];
  readonly counted: readonly StoreWindow[];
  readonly own: OwnPlaces;
  readonly view: SharedView;
  /** The part of the limits in force, after a 429 below 1. */
  readonly share: number;
  /** For how long yet nobody here gets a place, as the store said; 0 where it may be asked. */
  readonly waitMs: number;
  readonly now: number;
}

/**
 * How the windows stand, as far as one process knows: what it took itself to the millisecond, and of the others what the
 * store saw last, until all of it must have left the window (D78).
 */
export function sharedUsage({ windows, counted, own, view, share, waitMs, now }: SharedState): WindowUsage[] {
  const count = own.counted(windows, now);
  const seen = view.usedByAll(now);
  const heldMs = view.heldMs(now);
  const others = count.usage(now).map(({ limit, used }, index) => {
    return heldMs[index]! > 0 ? Math.max(0, Math.min(limit, seen[index]!) - used) : 0;
  });
  // What the others have taken is not left to this process.
  count.limits = counted.map((window, index) => limitInForce(window, share) - others[index]!);
  const usage = count.usage(now).map(({ used, freeInMs, ...window }, index) => {
    const theirs = others[index]!;
    // One of the others' comes free before the last of them, and when the store says.
    const soonestMs = theirs > 0 ? Math.min(freeInMs, heldMs[index]!, waitMs || Infinity) : freeInMs;
    return { ...window, used: used + theirs, freeInMs: Math.ceil(soonestMs) };
  });
  // The store knows more than it tells: whoever waits, waits for some window.
  if (waitMs === 0 || usage.some(({ freeInMs }) => freeInMs > 0)) return usage;
  const fullest = windows.indexOf(view.limitingWindow(1, now));
  return usage.map((window, index) =>
    index === fullest ? { ...window, freeInMs: Math.ceil(waitMs) } : window,
  );
}
