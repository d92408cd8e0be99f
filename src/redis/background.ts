const replyTimeoutMs = 1_000;
/** After a blocked event loop timers are due before sockets are read: what has arrived by then is read within this time. */
const readMs = 20;

/** The reply of Redis, which counts as unavailable after a second without one. `onLate` is called once a late request ends. */
export function replyWithin<Reply>(request: Promise<Reply>, onLate: () => void): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const fail = (): void => {
      reject(new Error(`no reply within ${replyTimeoutMs} ms`));
      request.then(onLate, onLate);
    };
    let timer = inBackground(replyTimeoutMs, () => (timer = inBackground(readMs, fail)));
    void request.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** A timeout that does not keep the process alive. */
export function inBackground(delayMs: number, callback: () => void): ReturnType<typeof setTimeout> {
  const timer = setTimeout(callback, delayMs);
  // Where timers are numbers (browsers, edge runtimes), they do not keep the process alive.
  if (typeof timer === "object") timer?.unref();
  return timer;
}
