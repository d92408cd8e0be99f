import { ConfigurationError } from "../errors.ts";

// One listener per signal, because 10,000 of them take over a second to run and warn about a leak.
const callbacksOf = new WeakMap<Abortable, Set<() => void>>();

/** What is asked of a signal. Every AbortSignal has it, of whichever realm, and so has a call's own interruption. */
export interface Abortable {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void, options?: { once: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/**
 * Calls back once when a signal aborts, and gives the function that takes the callback away again.
 *
 * However many callbacks wait on a signal, it carries one listener, and none when the last has left.
 * On a signal that is already aborted the callback runs at once. One function registered twice is registered once.
 * A signal that throws when it is listened to is none: a `ConfigurationError`.
 *
 * ```ts
 * const forget = onAbort(signal, () => reject(signal.reason));
 * promise.finally(forget);
 * ```
 */
export function onAbort(signal: Abortable, callback: () => void): () => void {
  if (signal.aborted) {
    callback();
    return () => {};
  }
  const callbacks = callbacksOf.get(signal) ?? addListener(signal);
  callbacks.add(callback);
  return () => {
    if (callbacks.delete(callback) && callbacks.size === 0) removeListener(signal);
  };
}

const listenerOf = new WeakMap<Abortable, () => void>();

function addListener(signal: Abortable): Set<() => void> {
  const callbacks = new Set<() => void>();
  const listener = () => {
    removeListener(signal);
    const waiting = [...callbacks];
    callbacks.clear();
    for (const callback of waiting) callSafely(callback);
  };
  try {
    signal.addEventListener("abort", listener, { once: true });
  } catch {
    throw new ConfigurationError("signal cannot be listened to: it throws.");
  }
  callbacksOf.set(signal, callbacks);
  listenerOf.set(signal, listener);
  return callbacks;
}

function removeListener(signal: Abortable): void {
  // True: who stops has listened.
  const listener = listenerOf.get(signal)!;
  listenerOf.delete(signal);
  callbacksOf.delete(signal);
  try {
    signal.removeEventListener("abort", listener);
  } catch {
    // One that does not let go of its listener keeps what has nobody left to call.
  }
}

/** What a signal was aborted with; nothing where it does not say. */
export function reasonOf(signal: Abortable): unknown {
  try {
    return signal.reason;
  } catch {
    return undefined;
  }
}

/** One callback that throws must not leave the others waiting; it surfaces as it would from a listener of its own. */
function callSafely(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** A longer timer would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/** A timer, or none where the delay is beyond what a timer can hold (24 days): `Infinity` is "never". */
export function startTimer(callback: () => void, delayMs: number): ReturnType<typeof setTimeout> | undefined {
  return delayMs > longestTimerMs ? undefined : setTimeout(callback, delayMs);
}

/** Waits; rejects with the signal's reason as soon as it is aborted. Keeps the process alive, as a caller waits. */
export async function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  // One more, as a timer may fire within its last millisecond, and no wait is shortened.
  const elapsed = new Promise<void>((resolve) => void (timer = setTimeout(resolve, Math.ceil(delayMs) + 1)));
  try {
    await untilAborted(elapsed, signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves and rejects as `work` does, but rejects with the signal's reason as soon as it is aborted. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort);
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
