/**
 * Calls `work` for every item in order, with bounded concurrency.
 *
 * Rejects with the first error, or the signal's reason, after the calls in progress have ended.
 */
export async function eachInPool<T>(
  items: Iterable<T>,
  options: { concurrency: number; signal: AbortSignal },
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    while (failures.length === 0 && !options.signal.aborted) {
      const next = waiting.next();
      if (next.done) return;
      await work(next.value).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, worker));
  options.signal.throwIfAborted();
  if (failures.length > 0) throw failures[0];
}
