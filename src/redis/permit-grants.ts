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

// More at once would only be granted to be given back.
const maxPerRequest = 100;
// Where Redis keeps available permits for other processes, it does so no longer than this.
const maxReservedMs = 1_000;

/** The permits that Redis grants, and the question for them: one at a time. */
export class PermitGrants {
  readonly #options: PermitGrantsOptions;
  /** Not given to a call yet: never for longer than it takes to give them out. */
  #granted: string[] = [];
  #demand = 0;
  #isRequesting = false;
  /** Redis may not know of all permits of this process: before it does, it is not asked for more. */
  #mustWriteBack: boolean;
  /** When Redis said to ask again; and before that it is not asked, as others may not be back yet. */
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

  /** For how long yet Redis is not asked. */
  waitMs(now: number): number {
    return Math.max(0, this.#retryAt - now, this.#notBefore - now);
  }

  /** There are permits, which could not be foreseen when Redis said when to ask: they were given back. */
  retryNow(now: number): void {
    if (this.#retryAt > now + maxReservedMs) this.#retryAt = now;
  }

  /** Redis is back, and knows all permits of this process. */
  resumeAt(time: number): void {
    this.#notBefore = time;
    this.#mustWriteBack = false;
  }

  /** So many calls wait. What was granted beyond that goes back. */
  demand(calls: number, now: number): void {
    this.#returnUnused(this.#granted.splice(0));
    this.#demand = calls;
    if (calls === 0 || this.waitMs(now) > 0 || this.#isRequesting || this.#options.isUnavailable()) return;
    this.#isRequesting = true;
    // All that begin to wait in this turn of the event loop are asked for at once.
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
      // They may have been granted all the same, and the reply lost.
      own.markUnsent(ids);
      onFailure(reason);
      return;
    }
    const now = clock();
    const granted = ids.slice(0, reply.granted);
    this.#isRequesting = false;
    // Asked a moment early, a permit is not available yet.
    if (reply.granted < permits) this.#retryAt = now + Math.max(1, reply.waitMs);
    // A process that was halted: Redis may have taken its permits for those of an ended one.
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
