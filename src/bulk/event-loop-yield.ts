const rowsBetweenLooks = 16;
const longestMs = 10;

/**
 * Rows that wait for nothing, as those of an array that are refused before they are sent, follow each other without end:
 * no timer, socket or abort would have its turn before the last. So every few milliseconds the rest of the process has.
 */
export class EventLoopYield {
  #rows = 0;
  #since = performance.now();

  /** Asked before each row: what to wait for, where it is time. */
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
