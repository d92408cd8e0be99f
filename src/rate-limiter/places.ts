import type { RateLimitWindow } from "../errors.ts";
import type { Forecast } from "./forecast.ts";
import type { Permit } from "./permit.ts";

/**
 * One window as it stands: how much of it is taken, and when a place in it comes free.
 *
 * With a `store` it is what this process knows: its own calls, and of the others what the store said last, counted until
 * it must have left the window. While the store is away, what this process leaves to the others counts as taken.
 */
export interface WindowUsage {
  /** How many calls the service allows in it. */
  readonly limit: number;
  /** Its length, in milliseconds. */
  readonly intervalMs: number;
  /** Places taken, those in flight among them. */
  readonly used: number;
  /** Milliseconds until a place comes free; 0 where one is; what is in flight counts as answered now. */
  readonly freeInMs: number;
}

/** Who is told that a shared store is away, and that this process goes on without it. */
export interface AbsenceObserver {
  /** In words, and why; undefined where the store is there, or calls are refused without it. */
  limitsAlone(absence: string | undefined): void;
}

/** Where places come from: this process alone (`LocalPlaces`), or a store that several processes share. */
export interface Places {
  /** How many can be handed out at once. */
  free(now: number): number;
  /** Hands one out. Only where one is free. */
  take(now: number): Permit;
  /** This many calls wait. */
  want(calls: number, now: number): void;
  /** When the next place can come free at the soonest, in milliseconds; undefined while that is being asked for. */
  etaMs(now: number): number | undefined;
  /** Why nobody gets a place for now, where that is so; all that wait are turned away then. */
  refusal(now: number): string | undefined;
  /** Tells of a shared store that is away or back: now, and as long as the place is waited for whenever that changes. */
  tellOfAbsence?(observer: AbsenceObserver, place: Permit | Promise<Permit>): void;
  forecast(now: number): Forecast;
  /** The window that holds back the call number `place`. */
  heldBackBy(place: number, now: number): RateLimitWindow;
  windows(now: number): WindowUsage[];
  readonly inFlight: number;
  refused(now: number, retryAfterMs: number | undefined): void;
  succeeded(): void;
  /** All places that still count, and when they were answered; undefined while in flight. An id where a store has it. */
  entries(now: number): [id: string | undefined, answeredAt: number | undefined][];
}
