/**
 * Does some work for every item, a bounded number at a time, in order of the items.
 *
 * Ends when all is done; with the first error, or the signal's reason, as soon as what had begun has ended.
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
