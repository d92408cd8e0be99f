/** Calls back later, unless the process ends before; gives the function that calls it off. */
export function inBackground(delayMs: number, callback: () => void): () => void {
  const timer: unknown = setTimeout(callback, delayMs);
  // Where timers are numbers (browsers, edge runtimes) they keep nothing alive.
  if (isUnrefable(timer)) timer.unref();
  return () => clearTimeout(timer as ReturnType<typeof setTimeout>); // the handle that setTimeout gave
}

function isUnrefable(timer: unknown): timer is { unref(): void } {
  return typeof timer === "object" && timer !== null && "unref" in timer;
}

/** Calls back again and again, as long as something else holds on to the owner. */
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
