import * as z from "zod";
import { AbortError, showCaller } from "../errors.ts";
import { onAbort, reasonOf } from "../on-abort.ts";
import { optionTypes, parseOptions } from "../schema/option.ts";
import type { PageSource } from "./page-source.ts";
import { startOf, stepFrom, type Progress, type Step } from "./step.ts";

/** Asks for one page and takes it in. */
export async function loadStep<T>(
  source: PageSource<T>,
  progress: Progress,
  options: { signal: AbortSignal | undefined; isReadAhead: boolean },
): Promise<Step<T>> {
  const { readAhead, signal } = source;
  parseOptions(optionsSchema, { readAhead, signal }, "The options of a list");
  return stepFrom(source, progress, await source.load(progress.page, options));
}

/**
 * The pages of one loop, in order, some of them read ahead.
 *
 * One page is asked for at a time, as only the page before tells whether there is another. Calls of `next()` may
 * overlap. A page read ahead that fails is reported when the consumer comes to it.
 */
export class PageStream<T> implements AsyncIterableIterator<Step<T>> {
  readonly #source: PageSource<T>;
  readonly #maxItems: number;
  #progress: Progress;
  #itemCount = 0;
  /** Read, and not asked for yet. */
  readonly #ready: Step<T>[] = [];
  /** Asked for, and not read yet. */
  readonly #pending: PendingNext<T>[] = [];
  #abortLoad: (() => void) | undefined;
  #failure: { error: unknown } | undefined;
  /** Nothing more will be asked of the source. */
  #isComplete = false;

  constructor(source: PageSource<T>, progress: Progress = startOf(source), maxItems = Infinity) {
    this.#source = source;
    this.#progress = progress;
    this.#maxItems = maxItems;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Begins to read ahead, where the consumer already has something to work on. */
  begin(): void {
    this.#advance();
  }

  async next(): Promise<IteratorResult<Step<T>>> {
    try {
      return await new Promise((resolve, reject) => {
        this.#pending.push({ resolve, reject });
        this.#advance();
      });
    } catch (error) {
      // It was made on the way of a page that nobody waited for then.
      throw showCaller(error);
    }
  }

  /** Gives up at once: what is on its way is aborted, what was read ahead is dropped. */
  return(): Promise<IteratorReturnResult<undefined>> {
    this.#drop();
    this.#failure = undefined;
    this.#handOver();
    return Promise.resolve({ done: true, value: undefined });
  }

  #advance(): void {
    this.#dropIfAborted();
    this.#handOver();
    if (this.#abortLoad || this.#isComplete) return;
    if (this.#pending.length > 0 || this.#ready.length < (this.#source.readAhead ?? 1)) this.#load();
  }

  #handOver(): void {
    for (let pending = this.#pending[0]; pending; pending = this.#pending[0]) {
      const step = this.#ready.shift();
      if (!step && !this.#isComplete) return;
      this.#pending.shift();
      if (step) pending.resolve({ done: false, value: step });
      else this.#end(pending);
    }
  }

  /** A failure is told once, to who comes to it; whoever asks on after it finds the end. */
  #end(pending: PendingNext<T>): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure) pending.reject(failure.error);
    else pending.resolve({ done: true, value: undefined });
  }

  #load(): void {
    const controller = new AbortController();
    const { signal } = this.#source;
    let unlink = () => {};
    try {
      if (isSignal(signal)) unlink = onAbort(signal, () => controller.abort(reasonOf(signal)));
    } catch (error) {
      this.#fail(error);
      this.#handOver();
      return;
    }
    const settle = (apply: () => void) => {
      unlink();
      // Given up meanwhile: nobody waits for this page, or for how it failed.
      if (this.#abortLoad !== abort) return;
      this.#abortLoad = undefined;
      apply();
      this.#advance();
    };
    const abort = () => {
      unlink();
      controller.abort();
    };
    this.#abortLoad = abort;
    loadStep(this.#source, this.#progress, {
      signal: controller.signal,
      isReadAhead: this.#pending.length === 0,
    }).then(
      (step) => settle(() => this.#add(step)),
      (error: unknown) => settle(() => this.#fail(error)),
    );
  }

  #add(step: Step<T>): void {
    this.#ready.push(step);
    this.#progress = step.next;
    this.#itemCount += step.items.length;
    this.#isComplete = !step.hasNextPage || this.#itemCount >= this.#maxItems;
  }

  #fail(error: unknown): void {
    this.#failure = { error };
    this.#isComplete = true;
  }

  #drop(): void {
    this.#abortLoad?.();
    this.#abortLoad = undefined;
    this.#ready.length = 0;
    this.#isComplete = true;
  }

  /** A page that lies ready is not handed out after the abort. One on its way is rejected by `load` itself. */
  #dropIfAborted(): void {
    const { signal } = this.#source;
    if (!isSignal(signal) || !signal.aborted || this.#ready.length === 0) return;
    this.#drop();
    this.#fail(abortedBy(signal));
  }
}

interface PendingNext<T> {
  resolve(result: IteratorResult<Step<T>>): void;
  reject(error: unknown): void;
}

/** Between two pages: reading changes nothing, so what the service did is nothing. */
export function abortedBy(signal: AbortSignal): AbortError {
  return new AbortError({ outcome: "not-applied", cause: reasonOf(signal) });
}

/** Judged here, as they steer the reading before a call has seen them. */
const optionsSchema = z.strictObject({ readAhead: optionTypes.count, signal: optionTypes.signal }).partial();

/** It is checked with each page, so that a bad one rejects; here it may be anything. */
function isSignal(value: unknown): value is AbortSignal {
  return optionTypes.signal.safeParse(value).success;
}
