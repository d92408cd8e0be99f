/**
 * The count that several processes share, as two scripts: everything behind one IP, as the service counts per IP
 * ("Limits"). Both may be repeated, as each permit has an id of its own.
 *
 * - **One clock, that of Redis.** Processes send durations (`agoMs`), never times. A permit counts in a window until one
 *   window after its time. The time of a permit in flight is `leaseMs` from now, so a process that was killed gives its
 *   permits back; a live one renews them with each heartbeat.
 * - **`acquire` grants as many as are available in every window**, in the order of `ids`: they are in flight. During a
 *   pause, and while recovering, it grants none. Where not all were granted, `waitMs` says when to ask again.
 * - **`release` writes down how permits stand**, known or not. `refusedForMs` pauses all processes and halves the rate
 *   factor, unless they are paused already; each of `succeeded` lets it grow.
 * - **An `epoch` names the memory of Redis.** One that is new, or came back empty, makes one at random. A request that
 *   carries another comes from a process whose permits Redis has forgotten: then it recovers. On an epoch that is new to
 *   it a process writes back all its permits that still count.
 * - **While recovering**, for `recoveryMs`, nobody is granted a permit, so that every live process can write back its own
 *   before anyone builds on the count. It begins with a request of another epoch, and with a release that `isReturning`;
 *   it is not prolonged while it lasts.
 */
export interface PermitScripts {
  acquire(request: AcquireRequest): Promise<AcquireReply>;
  release(request: ReleaseRequest): Promise<ScriptReply>;
}

/** One window, as Redis counts it. */
export interface ScriptWindow {
  readonly limit: number;
  /** How long a permit counts: the window, widened for clocks that are slewed. */
  readonly countedMs: number;
  /** Whether a 429 lowers its limit. */
  readonly isAdaptive: boolean;
}

/** What both requests carry. */
export interface ScriptRequest {
  /** The name of the limiter that asks. */
  readonly process: string;
  readonly windows: readonly ScriptWindow[];
  /** The memory of Redis as this process knows it; undefined before the first reply. */
  readonly epoch: string | undefined;
  readonly leaseMs: number;
}

export interface AcquireRequest extends ScriptRequest {
  /** One for each permit that is asked for; unique over all processes. */
  readonly ids: readonly string[];
}

/** How a permit stands. */
export interface PermitState {
  readonly id: string;
  readonly state: "in flight" | "responded" | "unsent";
  /** Of `"responded"`: how long ago. Below 0 lies ahead: a lost request may still arrive until then. */
  readonly agoMs: number;
}

export interface ReleaseRequest extends ScriptRequest {
  readonly permits: readonly PermitState[];
  /** Responses that were no 429, since the last release. */
  readonly succeeded: number;
  /** A 429 came: pause everybody for this long; for 0, where its pause is over or it asked for none. */
  readonly refusedForMs?: number;
  /** This process has been without Redis, and so, most likely, were others. */
  readonly isReturning: boolean;
}

export interface ScriptReply {
  readonly epoch: string;
  /** What is left of the pause. */
  readonly pausedMs: number;
  /** The part of the limits in force, after a 429 below 1. */
  readonly rateFactor: number;
  /** How many permits are used in each window, over all processes, after this request. */
  readonly used: readonly number[];
  /** How many other processes have spoken lately. */
  readonly others: number;
}

export interface AcquireReply extends ScriptReply {
  /** The first so many of `ids`. */
  readonly granted: number;
  readonly waitMs: number;
}

/** How often a live process speaks. */
export const heartbeatMs = 2_000;
/** A process that says nothing for so long is taken for ended: three heartbeats, and a moment. */
export const aliveForMs = 7_000;
/** How long nothing is granted after Redis lost its memory: two heartbeats, and a moment. */
export const recoveryMs = 5_000;
/** A Redis that takes longer to reply counts as unavailable. */
export const replyTimeoutMs = 1_000;
/** An unavailable Redis is tried again this often. */
export const retryIntervalMs = 1_000;
