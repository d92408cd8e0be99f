/** A timer with a longer delay would fire at once. */
const longestTimerMs = 2 ** 31 - 1;
/** In so many times the delay the event loop reads what has arrived, a compressed body too, unless the machine is busy. */
const graceTimes = 3;
const longestGraceMs = 1_000;

type SetTimer = (callback: () => void, delayMs: number) => ReturnType<typeof setTimeout>;

/**
 * Calls back after a delay; never if it is longer than a timer can be (24 days): `Infinity` means "never". Returns the
 * function that cancels the timer. The event may have come while the event loop was blocked, and timers are due before
 * sockets are read. So a second timer ends each delay: its last millisecond, or three times as long as the first was late (D109).
 */
export function startTimer(
  callback: () => void,
  delayMs: number,
  setTimer: SetTimer = setTimeout,
): () => void {
  if (delayMs > longestTimerMs) return () => {};
  const firstDelayMs = Math.max(0, delayMs - 1);
  const dueAt = performance.now() + firstDelayMs;
  let timer = setTimer(() => {
    const lateMs = performance.now() - dueAt;
    timer = setTimer(callback, Math.min(Math.max(graceTimes * lateMs, 1), longestGraceMs));
  }, firstDelayMs);
  return () => clearTimeout(timer);
}
