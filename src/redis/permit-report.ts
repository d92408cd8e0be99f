import type { CountedPermit, SlidingWindowLog } from "../rate-limiter/sliding-window-log.ts";

/** A permit of this process: its name, whether it is of priority 9, and how long ago it was responded to, or its state. */
export type WrittenPermit = readonly [id: string, isLast: boolean, state: number | "in flight" | "unsent"];

export interface ScriptRequest {
  /** The longest window is the last. */
  readonly windows: readonly {
    readonly limit: number;
    readonly intervalMs: number;
    /** How long a permit counts: the window, widened for clocks that are slewed. */
    readonly countedMs: number;
  }[];
  readonly leaseMs: number;
  /** Redis may know these permits or not, and this state of them. */
  readonly permits: readonly WrittenPermit[];
  readonly succeeded: number;
  /** After a 429: all processes pause for this long; 0 if the pause has ended, or there was none. */
  readonly refusedForMs?: number | undefined;
  /** The name of the process: those that wait take turns. */
  readonly process: string;
  /** One id for each permit that is wanted, unique over all processes. */
  readonly ids: readonly string[];
  readonly isLast: boolean;
  readonly reserve: number;
}

export interface ScriptReply {
  /** The name of the data: another one means that Redis has lost permits. */
  readonly data: string;
  /** How many of `ids` were granted, from the first. */
  readonly granted: number;
  readonly waitMs: number;
  /** The permits of all processes in each window. */
  readonly used: readonly number[];
  /** The permits younger than one sixth of each window, two sixths, and so on: all, and those of priorities 0 to 8. */
  readonly younger: readonly (readonly [ageMs: number, all: number, byOthers: number])[];
  readonly pausedMs: number;
  /** The part of the limits that Redis leaves in force, below 1 after a 429. */
  readonly rateFactor: number;
}

/** Sends one request to the script, on the data of one budget. Rejects with an error whose message may be shown. */
export type RunScript = (request: ScriptRequest) => Promise<ScriptReply>;

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
  report(
    ownLog: SlidingWindowLog,
    now: number,
  ): Pick<ScriptRequest, "permits" | "succeeded" | "refusedForMs"> {
    const permits: WrittenPermit[] = [];
    for (const { id, isLast, respondedAt } of ownLog.permits(now))
      if (this.#permits.delete(id) || respondedAt === undefined)
        permits.push([id, isLast, respondedAt === undefined ? "in flight" : now - respondedAt]);
    for (const id of this.#permits) permits.push([id, false, "unsent"]);
    const { succeeded, refusedUntil } = this;
    this.#permits.clear();
    [this.succeeded, this.refusedUntil] = [0, -Infinity];
    const refusedForMs = refusedUntil > -Infinity ? Math.max(0, refusedUntil - now) : undefined;
    return { permits, succeeded, refusedForMs };
  }

  /** A request has failed: the next one has its numbers again. */
  failed({ succeeded, refusedForMs = -Infinity }: ScriptRequest, sentAt: number): void {
    this.succeeded += succeeded;
    this.refusedUntil = Math.max(this.refusedUntil, sentAt + refusedForMs);
  }
}

/** The permits of other processes: what Redis has counted, less those of this process, spread evenly between two ages. */
export function permitsElsewhere(reply: ScriptReply, own: SlidingWindowLog, now: number): CountedPermit[] {
  const oldestFirst = reply.younger.toSorted(([age], [otherAge]) => otherAge - age);
  return [false, true].flatMap((isLast) => {
    let [untilMs, older] = [Infinity, Infinity];
    return [...oldestFirst, [0, 0, 0] as const].flatMap(([ageMs, all, byOthers]) => {
      const counted = (isLast ? all - byOthers : byOthers) - own.usedBy(isLast, ageMs, now);
      // Permits of this process that have passed the age meanwhile are nobody else's: at a greater age they are taken off.
      const younger = Math.max(0, Math.min(counted, older));
      const [count, spreadMs] = [older - younger, untilMs - ageMs];
      [untilMs, older] = [ageMs, younger];
      // What is older than all windows does not count.
      if (spreadMs === Infinity) return [];
      return Array.from({ length: count }, (_, index) => {
        const respondedAt = now - ageMs - ((index + 0.5) / count) * spreadMs;
        return { isLast, takenAt: respondedAt, respondedAt, id: "" };
      });
    });
  });
}
