const rowsBetweenLooks = 16;
const longestMs = 10;

/**
 * Yields to the event loop every few milliseconds. Rows that wait for nothing, such as invalid rows of an array, would
 * otherwise block timers, sockets and aborts until the last row.
 */
export class EventLoopYield {
  #rows = 0;
  #since = performance.now();

  /** Called before each row: a promise to await if it is time to yield. */
  afterRow(): Promise<void> | undefined {
    this.#rows += 1;
    if (this.#rows % rowsBetweenLooks !== 0 || performance.now() - this.#since < longestMs) return undefined;
    return new Promise((resolve) => {
      setTimeout(() => {
        this.#since = performance.now();
        resolve();
      }, 0);
    });
  }
}
