import type { RateLimitWindow } from "../errors.ts";
import { SlidingWindowLog, type PermitUse } from "../rate-limiter/sliding-window-log.ts";
import type { RestoredPermit } from "../rate-limiter/store.ts";
import type { PermitState } from "./script-calls.ts";

/** The state of a permit: the time of its response, in flight, or never used. */
export type OwnState = number | "in flight" | "unsent";

/** The permits of this process, as long as they count. A Redis that lost its data gets them again. */
export class OwnPermits {
  /** Their count, without other processes. */
  readonly log: SlidingWindowLog;
  /** The name of this limiter, and the prefix of its ids. */
  readonly name = crypto.randomUUID();
  readonly #states: Map<string, OwnState>;
  /** Released permits that have not been reported to Redis. */
  readonly #unreported = new Set<string>();
  #made = 0;

  constructor(windows: readonly RateLimitWindow[], restored: readonly RestoredPermit[]) {
    this.#states = new Map(restored);
    const responses = restored.map(([, respondedAt]) => respondedAt);
    this.log = new SlidingWindowLog(windows, responses);
  }

  newId(): string {
    this.#made += 1;
    return `${this.name}:${this.#made}`;
  }

  hold(id: string): void {
    this.#states.set(id, "in flight");
    this.log.inFlight += 1;
  }

  release(id: string, use: PermitUse, now: number): void {
    this.#states.set(id, this.log.release(use, now) ?? "unsent");
    this.#unreported.add(id);
  }

  /** Redis may have granted these, but no call uses them. */
  markUnsent(ids: readonly string[]): void {
    for (const id of ids) this.#states.set(id, "unsent");
  }

  /** The ids of permits in flight. */
  get inFlight(): string[] {
    return [...this.#states].filter(([, state]) => state === "in flight").map(([id]) => id);
  }

  /** All permits that count, and unused ones that have not been reported to Redis. */
  all(now: number): ReadonlyMap<string, OwnState> {
    this.forget(now);
    return new Map(this.#states);
  }

  some(ids: readonly string[]): ReadonlyMap<string, OwnState> {
    return new Map(ids.map((id) => [id, this.#states.get(id)!])); // Safe: each was held or returned
  }

  /** Forgets permits that have left every window. */
  forget(now: number): void {
    for (const [id, state] of this.#states) {
      if (typeof state !== "number" || state + this.log.longestMs > now) continue;
      // Redis still counts it as in flight, so its end must be reported.
      if (this.#unreported.has(id)) this.#states.set(id, "unsent");
      else this.#states.delete(id);
    }
  }

  /** These were reported to Redis; returns the ids that have changed since. */
  acknowledge(sent: ReadonlyMap<string, OwnState>): string[] {
    for (const [id, state] of sent) {
      if (this.#states.get(id) !== state) continue;
      this.#unreported.delete(id);
      if (state === "unsent") this.#states.delete(id);
    }
    return [...this.#states.keys()].filter((id) => sent.get(id) !== this.#states.get(id));
  }
}

/** The states of permits, as the scripts read them. */
export function permitStates(states: ReadonlyMap<string, OwnState>, now: number): PermitState[] {
  return Array.from(states, ([id, state]) =>
    typeof state === "number" ? { id, state: "responded", agoMs: now - state } : { id, state, agoMs: 0 },
  );
}
