/** A timer with a longer delay would fire at once. */
const longestTimerMs = 2 ** 31 - 1;
/** A timer fires within this time unless the event loop was blocked: on a busy machine timers are some milliseconds late. */
const punctualMs = 20;
/** Within this time the event loop reads what has arrived, a compressed body too, unless the machine is busy. */
const shortestGraceMs = 100;
const longestGraceMs = 1_000;

type SetTimer = (callback: () => void, delayMs: number) => ReturnType<typeof setTimeout>;

/**
 * Calls back after a delay; never if it is longer than a timer can be (24 days): `Infinity` means "never". Returns the
 * function that cancels the timer. The event may have come while the event loop was blocked, and timers are due before
 * sockets are read. So a second timer ends each delay: its last millisecond, or about as long as the first was late (D109).
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
    const graceMs = Math.min(Math.max(lateMs, shortestGraceMs), longestGraceMs);
    timer = setTimer(callback, lateMs <= punctualMs ? 1 : graceMs);
  }, firstDelayMs);
  return () => clearTimeout(timer);
}
