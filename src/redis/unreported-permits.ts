import type { SlidingWindowLog } from "../rate-limiter/sliding-window-log.ts";
import type { ScriptRequest, WrittenPermit } from "./permit-script.ts";

/** The permits, successes and refusal that a request reports to Redis. */
export type Report = Pick<ScriptRequest, "permits" | "succeeded" | "refusedForMs"> & {
  /** The report may not have arrived, or after newer ones: the next one has its numbers again. */
  readonly failed: () => void;
};

/** The permits, successes and refusal of this process that Redis may not know. */
export class Unreported {
  /** A 429 until whose end all processes pause; its halving of the rate counts after that, too. */
  refusedUntil = -Infinity;
  succeeded = 0;
  /** The permits of which Redis may have another state; one that is not in the log was not sent, or counts no more. */
  readonly #permits = new Set<string>();

  get isUrgent(): boolean {
    return this.#permits.size > 0 || this.refusedUntil > -Infinity;
  }

  addPermits(ids: Iterable<string>): void {
    for (const id of ids) this.#permits.add(id);
  }

  /** Reports all, and the permits in flight, so that their leases are renewed. */
  report(ownLog: SlidingWindowLog, now: number): Report {
    const permits: WrittenPermit[] = [];
    for (const { id, isLast, respondedAt } of ownLog.permits(now))
      if (this.#permits.delete(id) || respondedAt === undefined)
        permits.push([id, isLast, respondedAt === undefined ? "in flight" : now - respondedAt]);
    for (const id of this.#permits) permits.push([id, false, "unsent"]);
    const { succeeded, refusedUntil } = this;
    this.#permits.clear();
    [this.succeeded, this.refusedUntil] = [0, -Infinity];
    return {
      permits,
      succeeded,
      refusedForMs: refusedUntil > -Infinity ? Math.max(0, refusedUntil - now) : undefined,
      failed: () => {
        this.succeeded += succeeded;
        this.refusedUntil = Math.max(this.refusedUntil, refusedUntil);
      },
    };
  }
}
