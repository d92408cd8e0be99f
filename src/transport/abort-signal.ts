import { startTimer } from "../timer.ts";

type SharedListener = { callbacks: Set<() => void>; listener: () => void };

/** An abort signal has one listener for all its calls: Node 20 warns of a leak from the eleventh on. */
const sharedListeners = new WeakMap<AbortSignal, SharedListener>();

/** Calls back once when a signal aborts, or at once if it is aborted. Returns the function that removes the callback. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback();
    return () => {};
  }
  const { callbacks, listener } = sharedListeners.get(signal) ?? shareListener(signal);
  callbacks.add(callback);
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0) return;
    signal.removeEventListener("abort", listener);
    sharedListeners.delete(signal);
  };
}

function shareListener(signal: AbortSignal): SharedListener {
  const callbacks = new Set<() => void>();
  const listener = () => callbacks.forEach((callback) => callback());
  signal.addEventListener("abort", listener, { once: true });
  sharedListeners.set(signal, { callbacks, listener });
  return { callbacks, listener };
}

/** Waits for a delay; rejects with the signal's reason as soon as it is aborted. Keeps the process alive. */
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
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let removeCallback = () => {};
  const aborted = new Promise<never>((_, reject) => {
    removeCallback = onAbort(signal, () => reject(signal.reason));
  });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    removeCallback();
  }
}

/** Resolves and rejects as `work` does; after the delay, as `late` does. */
export async function unlessLate<T>(work: Promise<T>, delayMs: number, late: () => T): Promise<T> {
  let cancel = () => {};
  const elapsed = new Promise<void>((resolve) => void (cancel = startTimer(resolve, delayMs)));
  try {
    return await Promise.race([work, elapsed.then(late)]);
  } finally {
    cancel();
  }
}
