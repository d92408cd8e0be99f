import type { Abortable } from "../on-abort.ts";

/**
 * How a call is interrupted: of an AbortSignal, what this package asks of one. A real one costs as much as checking
 * the whole input, and nearly every call ends without being interrupted.
 */
export class Interruption implements Abortable {
  readonly #listeners = new Set<() => void>();
  #isAborted = false;
  #reason: unknown;

  get aborted(): boolean {
    return this.#isAborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** The first reason stays. */
  abort(reason: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }

  throwIfAborted(): void {
    if (this.#isAborted) throw this.#reason;
  }

  /** Calls back once, and not at all where it was aborted before. */
  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.delete(listener);
  }
}
