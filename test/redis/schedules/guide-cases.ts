import type { ProcessName } from "./owned-time.ts";

// By then every process has found out that Redis is back: the interval to its next attempt, and the timeout of the last.
const returnsWithinMs = 2_000;
// The longest time between two requests of an idle process: a heartbeat is left out within a second of another request.
const unknownForMs = 3_000;

/** The cases in which the guide says that a limit can be exceeded, in its words. */
export const guideCases = {
  killedForgotten: "A process is killed, and Redis loses its memory",
  killedAlone: 'Under `"local"`, a process is killed while Redis is unavailable',
  startedUnnoticed: "A process starts after Redis was emptied",
  startedAlone:
    'Under `"local"`, a process starts while Redis is unavailable, or in the three seconds before',
};

export type GuideCase = keyof typeof guideCases;

/** What has happened in a schedule, as far as the guide names it. */
export class Happened {
  readonly #isLocal: boolean;
  /** From the first request that got no reply. */
  readonly #outages: { from: number; until: number }[] = [];
  #killedAt = Infinity;
  #startedAt = Infinity;
  /** Processes whose permits Redis has lost, and not got again. */
  #forgotten = new Set<ProcessName>();
  #killed: ProcessName | undefined;
  /** Redis was emptied, and had no request since of a process that knew it. */
  #isUnnoticed = false;
  #hasStartedUnnoticed = false;

  constructor(onUnavailable: "local" | "reject") {
    this.#isLocal = onUnavailable === "local";
  }

  redisFails(now: number): void {
    this.#outages.push({ from: now, until: Infinity });
  }

  redisIsBack(now: number): void {
    this.#outages.at(-1)!.until = now;
  }

  /** To one process, which is without Redis until its next attempt. */
  replyIsLost(now: number): void {
    this.#outages.push({ from: now, until: now });
  }

  redisIsEmpty(): void {
    this.#forgotten = new Set(["A", "B"]);
    this.#isUnnoticed = true;
  }

  started(now: number): void {
    this.#startedAt = now;
  }

  wasKilled(name: ProcessName, now: number): void {
    this.#killed = name;
    this.#killedAt = now;
  }

  /** Redis carries out a request, with all permits of the process or not. */
  request(name: ProcessName, isFirst: boolean, hasAllPermits: boolean): void {
    if (hasAllPermits) this.#forgotten.delete(name);
    if (isFirst) this.#hasStartedUnnoticed ||= this.#isUnnoticed;
    else this.#isUnnoticed = false;
  }

  /** The case of the guide that a call over the limit belongs to, if there is one. */
  get guideCase(): GuideCase | undefined {
    const isOut = (at: number, beforeMs = 0): boolean =>
      this.#outages.some(({ from, until }) => at >= from - beforeMs && at <= until + returnsWithinMs);
    if (this.#killed && this.#forgotten.has(this.#killed)) return "killedForgotten";
    if (this.#hasStartedUnnoticed) return "startedUnnoticed";
    if (this.#isLocal && isOut(this.#startedAt, unknownForMs)) return "startedAlone";
    if (this.#isLocal && isOut(this.#killedAt)) return "killedAlone";
    return undefined;
  }
}
