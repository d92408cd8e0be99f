import type { OwnPermits } from "./own-permits.ts";
import type { AcquireReply, ScriptReply, ScriptRequest } from "./permit-scripts.ts";
import type { PermitWriter } from "./permit-writer.ts";
import type { ScriptCalls } from "./script-calls.ts";

interface PermitGrantsOptions {
  readonly calls: ScriptCalls;
  readonly own: OwnPermits;
  readonly writer: PermitWriter;
  readonly clock: () => number;
  readonly request: () => ScriptRequest;
  readonly isUnavailable: () => boolean;
  readonly onReply: (reply: ScriptReply) => void;
  readonly onFailure: (reason: unknown) => void;
  readonly onChange: () => void;
}

// More permits would only be returned unused.
const maxPerRequest = 100;
// Redis reserves available permits for other processes no longer than this.
const maxReservedMs = 1_000;

/** The permits that Redis grants, and the requests for them: one at a time. */
export class PermitGrants {
  readonly #options: PermitGrantsOptions;
  /** Granted, but not assigned to a call yet. */
  #granted: string[] = [];
  #demand = 0;
  #isRequesting = false;
  /** Redis may not know all permits of this process: they are written back before the next request. */
  #mustWriteBack: boolean;
  /** The time that Redis named for the next request; and the earliest one after its return, as others may be late. */
  #retryAt = -Infinity;
  #notBefore = -Infinity;

  constructor(options: PermitGrantsOptions) {
    this.#options = options;
    this.#mustWriteBack = options.own.size > 0;
  }

  get size(): number {
    return this.#granted.length;
  }

  shift(): string | undefined {
    return this.#granted.shift();
  }

  /** The time until the next request. */
  waitMs(now: number): number {
    return Math.max(0, this.#retryAt - now, this.#notBefore - now);
  }

  /** Permits are available earlier than Redis expected: other processes returned them. */
  retryNow(now: number): void {
    if (this.#retryAt > now + maxReservedMs) this.#retryAt = now;
  }

  /** Redis is back, and knows all permits of this process. Requests continue at `time`. */
  resumeAt(time: number): void {
    this.#notBefore = time;
    this.#mustWriteBack = false;
  }

  /** Sets the number of waiting calls. Unused grants are returned. */
  demand(calls: number, now: number): void {
    this.#returnUnused(this.#granted.splice(0));
    this.#demand = calls;
    if (calls === 0 || this.waitMs(now) > 0 || this.#isRequesting || this.#options.isUnavailable()) return;
    this.#isRequesting = true;
    // One request for all calls that begin to wait in this tick of the event loop.
    void Promise.resolve().then(() => (this.#mustWriteBack ? this.#writeAllBack() : this.#request()));
  }

  async #writeAllBack(): Promise<void> {
    this.#mustWriteBack = !(await this.#options.writer.writeAllBack());
    this.#isRequesting = false;
    this.#options.onChange();
  }

  async #request(): Promise<void> {
    const { calls, own, clock, request, isUnavailable, onReply, onFailure } = this.#options;
    const permits = Math.min(Math.max(1, this.#demand), maxPerRequest);
    const ids = Array.from({ length: permits }, () => own.newId());
    const { leaseMs } = request();
    const requestedAt = clock();
    let reply: AcquireReply;
    try {
      reply = await calls.acquire({ ...request(), ids }, () => this.#returnUnused(ids));
    } catch (reason) {
      this.#isRequesting = false;
      // Redis may have granted them, though the reply was lost.
      own.markUnsent(ids);
      onFailure(reason);
      return;
    }
    const now = clock();
    const granted = ids.slice(0, reply.granted);
    this.#isRequesting = false;
    // At least 1 ms: an early request finds no permit.
    if (reply.granted < permits) this.#retryAt = now + Math.max(1, reply.waitMs);
    // The process was suspended: the leases of its permits may have expired.
    if (isUnavailable() || now > requestedAt + leaseMs / 2) this.#returnUnused(granted);
    else this.#granted = granted;
    onReply(reply);
  }

  #returnUnused(ids: readonly string[]): void {
    if (ids.length === 0) return;
    const { own, writer, isUnavailable } = this.#options;
    own.markUnsent(ids);
    if (!isUnavailable()) writer.report(ids);
  }
}
