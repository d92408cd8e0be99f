import * as z from "zod";
import { AbortError, showCaller } from "../errors.ts";
import { optionTypes, parseOptions } from "../schema/option.ts";
import { onAbort, reasonOf } from "../transport/abort.ts";
import type { PageSource } from "./page-source.ts";
import { startOf, stepFrom, type Progress, type Step } from "./step.ts";

/** Loads one page. */
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
 * The pages of one loop, in order, some of them fetched ahead.
 *
 * Pages are fetched one at a time, because only the page before says whether there is another. Calls of `next()` may
 * overlap. The failure of a page that was fetched ahead is reported when the consumer reaches it.
 */
export class PageStream<T> implements AsyncIterableIterator<Step<T>> {
  readonly #source: PageSource<T>;
  readonly #maxItems: number;
  #progress: Progress;
  #itemCount = 0;
  /** Pages that no `next()` has asked for yet. */
  readonly #ready: Step<T>[] = [];
  /** Calls of `next()` that wait for a page. */
  readonly #pending: PendingNext<T>[] = [];
  #abortLoad: (() => void) | undefined;
  #failure: { error: unknown } | undefined;
  /** No further page will be fetched. */
  #isComplete = false;

  constructor(source: PageSource<T>, progress: Progress = startOf(source), maxItems = Infinity) {
    this.#source = source;
    this.#progress = progress;
    this.#maxItems = maxItems;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Starts to fetch ahead while the consumer works on items that it already has. */
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
      // The error may come from a page that was fetched before this call.
      throw showCaller(error);
    }
  }

  /** Aborts the page in flight and drops the pages that were fetched ahead. */
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

  /** The first call of `next()` after a failure rejects with it; later calls find the end. */
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
      // The page was aborted meanwhile: its result no longer counts.
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

  /** Drops ready pages after an abort. `load` itself rejects the page in flight. */
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

/** An abort between two pages; a read changes nothing. */
export function abortedBy(signal: AbortSignal): AbortError {
  return new AbortError({ outcome: "not-applied", cause: reasonOf(signal) });
}

/** Validated here, because the stream uses them before the call validates them. */
const optionsSchema = z.strictObject({ readAhead: optionTypes.count, signal: optionTypes.signal }).partial();

/** `loadStep` validates the signal; here it may be any value. */
function isSignal(value: unknown): value is AbortSignal {
  return optionTypes.signal.safeParse(value).success;
}
