/** A longer timer would fire at once. */
const longestTimerMs = 2 ** 31 - 1;
/** A punctual timer fires within this time. */
const punctualMs = 2;
/** Within this time the event loop reads what has arrived, a compressed body too. */
const graceMs = 100;

type SetTimer = (callback: () => void, delayMs: number) => ReturnType<typeof setTimeout>;

/**
 * Calls back after a delay; never if it is longer than a timer can be (24 days): `Infinity` means "never". Returns the
 * function that cancels it.
 *
 * If the event loop was blocked, or the process stopped, what this timer waits for may have arrived meanwhile. But timers
 * are due before sockets are read, so a late timer waits a little longer (D109).
 */
export function startTimer(
  callback: () => void,
  delayMs: number,
  setTimer: SetTimer = (run, ms) => setTimeout(run, ms),
): () => void {
  if (delayMs > longestTimerMs) return () => {};
  const dueAt = performance.now() + delayMs;
  let timer = setTimer(() => {
    if (performance.now() - dueAt <= punctualMs) callback();
    else timer = setTimer(callback, graceMs);
  }, delayMs);
  return () => clearTimeout(timer);
}
