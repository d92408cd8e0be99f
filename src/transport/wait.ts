import { onAbort, type Abortable } from "../on-abort.ts";

/** Waits; rejects with the signal's reason as soon as it is aborted. Keeps the process alive, as a caller waits. */
export function wait(delayMs: number, signal: Abortable): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      forget();
      resolve();
    };
    // One more, as a timer may fire within its last millisecond, and no wait is shortened.
    const timer = setTimeout(end, Math.ceil(delayMs) + 1);
    const forget = onAbort(signal, () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
