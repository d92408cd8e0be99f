/** A longer timer would fire at once. */
const longestTimerMs = 2 ** 31 - 1;
/** A punctual timer fires within this time. */
const punctualMs = 2;
/** Within this time the event loop reads what has arrived, a compressed body too, unless the machine is busy. */
const shortestGraceMs = 100;
const longestGraceMs = 1_000;

type SetTimer = (callback: () => void, delayMs: number) => ReturnType<typeof setTimeout>;

/**
 * Calls back after a delay; never if it is longer than a timer can be (24 days): `Infinity` means "never". Returns the
 * function that cancels it.
 *
 * If the event loop was blocked, or the process stopped, what this timer waits for may have arrived meanwhile. But timers
 * are due before sockets are read, so a late timer waits once more, about as long as it was late (D109).
 */
export function startTimer(
  callback: () => void,
  delayMs: number,
  setTimer: SetTimer = (run, ms) => setTimeout(run, ms),
): () => void {
  if (delayMs > longestTimerMs) return () => {};
  const dueAt = performance.now() + delayMs;
  let timer = setTimer(() => {
    const lateMs = performance.now() - dueAt;
    if (lateMs <= punctualMs) callback();
    else timer = setTimer(callback, Math.min(Math.max(lateMs, shortestGraceMs), longestGraceMs));
  }, delayMs);
  return () => clearTimeout(timer);
}
