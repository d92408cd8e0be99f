import * as z from "zod";
import { ClientClosedError } from "../errors.ts";
import type { ClientLimiter } from "../rate-limiter/client-limiter.ts";
import { optionTypes, parseOptions } from "../schema/parse-options.ts";
import { startTimer } from "../timer.ts";
import type { Redactor } from "./redact.ts";
import { Turns } from "./turns.ts";

/** Options of `close()`. */
export interface CloseOptions {
  /** Whether the calls that wait are sent first, retries included. Default: no; they reject. */
  drain?: boolean | undefined;
  /**
   * The longest time for the drain, in milliseconds: the calls that still wait then reject. Requests in flight end, or pass
   * their own `timeoutMs`. Default: none.
   */
  timeoutMs?: number | undefined;
}

const closeOptionsSchema = z.strictObject({
  drain: optionTypes.boolean.default(false),
  timeoutMs: optionTypes.durationMs.default(Infinity),
}) satisfies z.ZodType<unknown, CloseOptions>;

/** The state that all views of one client share. The limiter's round robin counts it as one client. */
export class ClientState {
  readonly limiter: ClientLimiter;
  readonly redactor: Redactor;
  /** The turns of the writes, by the keys of their contacts. */
  readonly turns = new Turns();
  /** The results of the calls under way, by the controller that stops their waiting. */
  readonly underWay = new Map<AbortController, Promise<unknown>>();
  readonly closing = new AbortController();
  readonly #background = new Set<Promise<unknown>>();

  constructor(limiter: ClientLimiter, redactor: Redactor) {
    this.limiter = limiter;
    this.redactor = redactor;
  }

  /** `close()` waits for the request of an aborted call too. */
  leaveInBackground(request: Promise<unknown>): void {
    this.#background.add(request);
    void Promise.allSettled([request]).then(() => this.#background.delete(request));
  }

  /** Takes no new call, rejects those that wait, at once or after the drain, and resolves when all requests have ended, and a shared store knows it. */
  async close(options: CloseOptions = {}): Promise<void> {
    const { drain, timeoutMs } = parseOptions(closeOptionsSchema, options, "The options of close");
    this.closing.abort();
    const stopWaiting = () => {
      for (const stopCall of this.underWay.keys()) stopCall.abort(new ClientClosedError());
    };
    if (!drain) stopWaiting();
    const cancelTimer = startTimer(stopWaiting, drain ? timeoutMs : Infinity);
    await Promise.allSettled(this.underWay.values());
    cancelTimer();
    await Promise.allSettled(this.#background);
    await this.limiter.current?.settled();
  }
}
