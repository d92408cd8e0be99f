import { startTimer } from "../timer.ts";

/** How often a live process contacts Redis. */
export const heartbeatMs = 2_000;
/** A process without contact for so long counts as ended: three heartbeats and a margin. */
export const aliveForMs = 7_000;
/** How long nothing is granted after Redis lost its data: two heartbeats and a margin. */
export const recoveryMs = 5_000;
/** Redis counts as unavailable after this time without a reply. */
export const replyTimeoutMs = 1_000;
/** The interval in which an unavailable Redis is retried. */
export const retryIntervalMs = 1_000;

/**
 * The shared count of all processes behind one IP, as two scripts, because the service counts per IP ("Limits"). Both
 * scripts may be repeated, because each permit has a unique id.
 *
 * - **One clock, that of Redis.** Processes send durations, never times. The time of a permit in flight is `leaseMs`
 *   from now, so the permits of a killed process expire; a live one renews them with each heartbeat.
 * - **`acquire` grants as many as are available in every window**, in the order of `ids`: they are in flight. During a
 *   pause, and while recovering, it grants none. Where not all were granted, `waitMs` says when to ask again.
 * - **`release` writes the states of permits**, known or not. `refusedForMs` pauses all processes and halves the rate
 *   factor, unless they are already paused or it has just been halved; each of `succeeded` raises it.
 * - **An `epoch` identifies the data of Redis.** A new or empty Redis generates one at random. A request with another epoch
 *   comes from a process whose permits Redis has lost: then it recovers. A process that receives a new epoch writes back
 *   all its permits that still count.
 * - **While recovering**, for `recoveryMs`, no process gets a permit, so that every live process can first write back its
 *   own. Recovery begins with a request of another epoch, or with a release that `isReturning`; it is never extended.
 */
export interface PermitScripts {
  acquire(request: AcquireRequest): Promise<AcquireReply>;
  release(request: ReleaseRequest): Promise<ScriptReply>;
}

export interface ScriptWindow {
  readonly limit: number;
  /** How long a permit counts: the window, widened for clocks that are slewed. */
  readonly countedMs: number;
  readonly isAdaptive: boolean;
}

export interface ScriptRequest {
  readonly process: string;
  readonly windows: readonly ScriptWindow[];
  /** The epoch that this process knows; undefined before the first reply. */
  readonly epoch: string | undefined;
  readonly leaseMs: number;
}

export interface AcquireRequest extends ScriptRequest {
  /** One for each requested permit; unique over all processes. */
  readonly ids: readonly string[];
}

/** A permit: how long ago it was responded to, or its state. Below 0 the time lies ahead: a lost request may arrive until then. */
export type PermitState = readonly [id: string, state: number | "in flight" | "unsent"];

export interface ReleaseRequest extends ScriptRequest {
  readonly permits: readonly PermitState[];
  readonly succeeded: number;
  /** After a 429: pause all processes for this long; 0 if its pause has ended or it asked for none. */
  readonly refusedForMs?: number;
  /** This process was without Redis, and probably others were, too. */
  readonly isReturning: boolean;
}

export interface ScriptReply {
  readonly epoch: string;
  readonly pausedMs: number;
  /** The part of the limits in force, after a 429 below 1. */
  readonly rateFactor: number;
  /** The permits that all processes use in each window, after this request. */
  readonly used: readonly number[];
  readonly others: number;
}

export interface AcquireReply extends ScriptReply {
  /** How many of `ids` were granted, from the first. */
  readonly granted: number;
  readonly waitMs: number;
}

/** A client that gives something else in place of the scripts' replies is no Redis. */
export function isReply<Reply extends ScriptReply>(
  reply: Reply,
  windows: number,
  names: readonly (keyof Reply)[],
): boolean {
  const { epoch, used, pausedMs, rateFactor, others } = Object(reply) as Reply;
  const figures = [pausedMs, rateFactor, others, ...names.map((name) => reply?.[name]), used].flat();
  const isWhole = typeof epoch === "string" && Array.isArray(used) && used.length === windows;
  return isWhole && figures.every(Number.isFinite);
}

export function withTimeout<T>(call: () => Promise<T>, onLate = (): void => {}): Promise<T> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const fail = () => {
      isLate = true;
      reject(new Error(`no reply within ${replyTimeoutMs} ms`));
    };
    const cancelTimer = startTimer(fail, replyTimeoutMs, (run, delayMs) => inBackground(delayMs, run));
    call()
      .then((reply) => (isLate ? onLate() : resolve(reply)), reject)
      .finally(cancelTimer);
  });
}

/** A timeout that does not keep the process alive. */
export function inBackground(delayMs: number, callback: () => void): ReturnType<typeof setTimeout> {
  const timer = setTimeout(callback, delayMs);
  // Where timers are numbers (browsers, edge runtimes), they do not keep the process alive.
  if (typeof timer === "object") timer?.unref();
  return timer;
}
