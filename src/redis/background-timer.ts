/** An unref'd timeout; returns the function that cancels it. */
export function inBackground(delayMs: number, callback: () => void): () => void {
  const timer: unknown = setTimeout(callback, delayMs);
  // Where timers are numbers (browsers, edge runtimes), they do not keep the process alive.
  if (isUnrefable(timer)) timer.unref();
  return () => clearTimeout(timer as ReturnType<typeof setTimeout>); // Safe: the handle that setTimeout returned
}

function isUnrefable(timer: unknown): timer is { unref(): void } {
  return typeof timer === "object" && timer !== null && "unref" in timer;
}

/** Repeats the callback until the owner is garbage-collected. */
export function repeatWhileAlive<T extends object>(
  owner: T,
  everyMs: number,
  callback: (owner: T) => void,
): void {
  const reference = new WeakRef(owner);
  const next = (): void => {
    inBackground(everyMs, () => {
      const alive = reference.deref();
      if (!alive) return;
      callback(alive);
      next();
    });
  };
  next();
}
