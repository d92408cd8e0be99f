import { ConfigurationError } from "../errors.ts";

// One listener per signal, because 10,000 of them take over a second to run and warn about a leak.
const callbacksOf = new WeakMap<Abortable, Set<() => void>>();

/** The part of an AbortSignal that is used; signals of other realms have it too. */
export interface Abortable {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void, options?: { once: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/**
 * Calls back once when a signal aborts, and returns the function that removes the callback.
 *
 * A signal has one listener for all its callbacks, and none after the last is removed.
 * If the signal is already aborted, the callback runs at once. The same function is registered once.
 * A signal whose `addEventListener` throws is a `ConfigurationError`.
 *
 * ```ts
 * const removeCallback = onAbort(signal, () => reject(signal.reason));
 * promise.finally(removeCallback);
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
  // Safe: the listener was added before.
  const listener = listenerOf.get(signal)!;
  listenerOf.delete(signal);
  callbacksOf.delete(signal);
  try {
    signal.removeEventListener("abort", listener);
  } catch {
    // The listener stays, and has no callback left to call.
  }
}

/** The signal's abort reason; undefined if it cannot be read. */
export function reasonOf(signal: Abortable): unknown {
  try {
    return signal.reason;
  } catch {
    return undefined;
  }
}

/** A callback that throws must not stop the others; its error is uncaught, as that of a listener would be. */
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

/** A timer; none if the delay is longer than a timer can be (24 days): `Infinity` means "never". */
export function startTimer(callback: () => void, delayMs: number): ReturnType<typeof setTimeout> | undefined {
  return delayMs > longestTimerMs ? undefined : setTimeout(callback, delayMs);
}

/** Waits; rejects with the signal's reason as soon as it is aborted. Keeps the process alive. */
export async function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  // One millisecond more, because a timer may fire within its last millisecond.
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
