/** A longer timer would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/** A timer, or none where the delay is beyond what a timer can hold (24 days): `Infinity` is "never". */
export function startTimer(callback: () => void, delayMs: number): ReturnType<typeof setTimeout> | undefined {
  return delayMs > longestTimerMs ? undefined : setTimeout(callback, delayMs);
}
