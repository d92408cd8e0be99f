/**
 * A count of places that several processes share: everything behind one IP, as the service counts per IP ("Limits").
 *
 * The limiter of each process keeps its own waiting line, and everything it knows of its own places; the store only
 * counts. So a store is two methods and three settings, all of it safe to repeat, as each place has an id of its own.
 *
 * What a store does:
 * - **One clock, its own.** Processes send durations (`agoMs`), never times. A place counts in a window until one
 *   window after its time. The time of a place in flight ("held") is `leaseMs` from now, so a process that was killed
 *   gives its places back; a live one renews them with each report.
 * - **`take` grants as many as are free in every window**, all in one step, in the order of `ids`: they are held.
 *   A window that `shrinks` counts `max(1, floor(limit × share))` while `share` is below 1.
 *   During a pause, or while settling in (below), it grants none.
 * - **`waitMs`** is the exact time until the next place can be free at the soonest, where not all were granted: for a
 *   window that waits for a place in flight, `countedMs`, as that may be answered right now; while paused or settling
 *   in, at least until that ends. The limiter asks again then.
 * - **`report` writes down how places stand**, known or not: whoever was granted a place is not asked again.
 *   `"unused"` removes it. `refusedForMs` pauses all processes for at least that long and halves `share` (not below
 *   1/64; not again while paused); each of `succeeded` adds 1/200 to it, up to 1.
 * - **An `epoch` names the store's memory.** A store without one (a new key, or a Redis that came back empty) makes one,
 *   at random. A request that carries another epoch than the store's comes from a process whose places the store has
 *   forgotten: `take` then grants none, and the store settles in. On an epoch that is new to it the limiter reports all
 *   its places that still count.
 * - **Settling in**: for `settleInMs` nobody is granted a place, so that every live process can report its places
 *   before anyone builds on the count. It begins with a request of another epoch (a first request, without an epoch,
 *   does not begin it), and with a report that `isReturning`; it is not prolonged while it lasts.
 * - A place may be forgotten once it has left the longest window of all requests.
 *
 * What the limiter does: it reports at least every `heartbeatMs` and a half, and of places in flight three times in a
 * lease, while the process lives, never asks twice at a time, and takes no answer within `answersWithinMs`, or a
 * rejection, as "away". The message of a rejection is shown: it holds no secret. Then `onUnavailable` holds: `"reject"`
 * refuses the calls that wait; `"local"` counts on alone, with `localShare` of what was left of each limit at the last
 * contact. It returns once the store has answered a report that says nothing.
 */
export interface PlaceStore {
  readonly onUnavailable: "local" | "reject";
  /** The part of each limit that one process uses while the store is away, over 0 to 1: 1/4 is safe for 4 processes. */
  readonly localShare: number;
  /** How long a place in flight is held for a process that says nothing more; well over `heartbeatMs`. */
  readonly leaseMs: number;
  /** Asks for places, one for each id. */
  take(request: TakeRequest): Promise<TakeAnswer>;
  /** Writes down how places stand. */
  report(request: ReportRequest): Promise<StoreState>;
}

/** One window, as a store counts it. */
export interface StoreWindow {
  readonly limit: number;
  /** How long a place counts: the window, widened for clocks that are slewed. */
  readonly countedMs: number;
  /** Whether a 429 shrinks it: all but the longest. */
  readonly shrinks: boolean;
}

/** What a window allows, of whose limits `share` is in force. */
export function limitInForce({ limit, shrinks }: StoreWindow, share: number): number {
  return shrinks ? Math.max(1, Math.floor(limit * share)) : limit;
}

export interface TakeRequest {
  readonly windows: readonly StoreWindow[];
  /** One id for each place that is asked for; unique over all processes. */
  readonly ids: readonly string[];
  /** The store's memory as this process knows it; undefined before the first answer. */
  readonly epoch: string | undefined;
  readonly leaseMs: number;
}

/** How a place stands. */
export interface StorePlace {
  readonly id: string;
  readonly state: "held" | "answered" | "unused";
  /** Of `"answered"`: how long ago. Below 0 lies ahead: a lost call may still arrive until then. */
  readonly agoMs: number;
}

export interface ReportRequest {
  readonly windows: readonly StoreWindow[];
  readonly places: readonly StorePlace[];
  readonly epoch: string | undefined;
  readonly leaseMs: number;
  /** Answers that were no 429, since the last report. */
  readonly succeeded: number;
  /** A 429 came: pause everybody for this long; for 0, where its pause is over or it asked for none. */
  readonly refusedForMs?: number;
  /** This process has been without the store, and so, most likely, were others. */
  readonly isReturning: boolean;
}

export interface StoreState {
  readonly epoch: string;
  /** What is left of the pause. */
  readonly pausedMs: number;
  /** The part of the limits in force, after a 429 below 1. */
  readonly share: number;
  /** How many places are taken in each window, over all processes, after this request. */
  readonly used: readonly number[];
}

export interface TakeAnswer extends StoreState {
  /** The first so many of `ids`. */
  readonly granted: number;
  /** Where not all were granted: when to ask again. */
  readonly waitMs: number;
}

/** How often a live process reports. */
export const heartbeatMs = 2_000;
/** How long a store grants nothing after it lost its memory: two heartbeats, and a moment. */
export const settleInMs = 5_000;
/** A store that takes longer to answer counts as away. */
export const answersWithinMs = 1_000;
