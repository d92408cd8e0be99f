import { TimeoutError } from "../errors.ts";
import { onAbort } from "../on-abort.ts";
import type { Call } from "./call.ts";
import type { KeySource } from "./key-source.ts";
import { startTimer } from "./timer.ts";

/** The key over one call's attempts: asked for before each, and once more after a 401. */
export class CallKey {
  readonly #source: KeySource;
  readonly #timeoutMs: number;
  readonly #call: Call;
  #last: string | undefined;
  #next: string | undefined;
  #hasAskedAgain = false;
  /** Attempts that are made only because the key has changed: at most one. */
  changes = 0;

  constructor(source: KeySource, timeoutMs: number, call: Call) {
    this.#source = source;
    this.#timeoutMs = timeoutMs;
    this.#call = call;
  }

  async forAttempt(): Promise<string> {
    this.#last = this.#next ?? (await this.#ask());
    this.#next = undefined;
    return this.#last;
  }

  /** After a 401. Only a different key is worth another attempt; a function that fails leaves the 401 as it is. */
  async hasChanged(): Promise<boolean> {
    if (this.#hasAskedAgain) return false;
    this.#hasAskedAgain = true;
    const key = await this.#ask().catch(() => this.#last);
    if (key === this.#last) return false;
    this.#next = key;
    this.changes = 1;
    return true;
  }

  /** A key function that never answers must hold neither the call nor its place in the rate limit: it waits (`Call`). */
  async #ask(): Promise<string> {
    const key = this.#source();
    if (typeof key === "string") return key;
    const call = this.#call;
    call.waits();
    return await new Promise<string>((resolve, reject) => {
      const timer = startTimer(() => reject(this.#timeoutError()), this.#timeoutMs);
      const forget = onAbort(call.signal, () => reject(call.signal.reason));
      key.then(resolve, reject).finally(() => {
        clearTimeout(timer);
        forget();
      });
    });
  }

  #timeoutError(): TimeoutError {
    const timeoutMs = this.#timeoutMs;
    return new TimeoutError({
      message: `The key function gave no key within ${timeoutMs} ms; nothing was sent.`,
      outcome: "not-sent",
      timeoutMs,
    });
  }
}
