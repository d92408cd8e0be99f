/** The results of a run, which the caller takes one after the other. */
export class ResultQueue<Result> {
  /** The results that the caller has not finished with. */
  readonly #results: { readonly result: Result; readonly release: () => void }[] = [];
  #onChange: (() => void) | undefined;
  #isLeft = false;

  /** Resolves when the caller has finished with the result, or takes no more. */
  async give(result: Result): Promise<void> {
    if (this.#isLeft) return;
    await new Promise<void>((release) => {
      this.#results.push({ result, release });
      this.#onChange?.();
    });
  }

  /** Yields the results until `over` has resolved, which never rejects. */
  async *until(over: Promise<unknown>): AsyncGenerator<Result, void, undefined> {
    let isOver = false;
    void over.then(() => {
      isOver = true;
      this.#onChange?.();
    });
    for (;;) {
      const [next] = this.#results;
      if (next) {
        yield next.result;
        this.#results.shift();
        next.release();
      } else if (isOver) return;
      else await new Promise<void>((resolve) => (this.#onChange = resolve));
    }
  }

  /** The caller takes no more results. */
  leave(): void {
    this.#isLeft = true;
    for (const { release } of this.#results) release();
  }
}
