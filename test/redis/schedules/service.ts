import { arrivalGraceMs } from "../../../src/rate-limiter/sliding-window-log.ts";
import type { ProcessName } from "./owned-time.ts";

interface Call {
  readonly by: ProcessName;
  /** The last moment at which it can arrive. */
  arrivesUntil: number;
}

/**
 * The count of the service. A call may arrive at any time from its sending to its response, and the limit must hold for
 * each of these times: so a call is over the limit if calls that may arrive within one window before it fill the limit.
 */
export class Service {
  sent = 0;
  readonly #limit: number;
  readonly #intervalMs: number;
  #calls: Call[] = [];

  constructor(limit: number, intervalMs: number) {
    this.#limit = limit;
    this.#intervalMs = intervalMs;
  }

  /** Undefined if the call is over the limit. */
  send(by: ProcessName, now: number): Call | undefined {
    this.sent += 1;
    this.#calls = this.#calls.filter(({ arrivesUntil }) => arrivesUntil > now - this.#intervalMs);
    if (this.#calls.length >= this.#limit) return undefined;
    const call: Call = { by, arrivesUntil: Infinity };
    this.#calls.push(call);
    return call;
  }

  /** The calls of a process that still count. */
  countOf(name: ProcessName, now: number): number {
    const counts = ({ by, arrivesUntil }: Call): boolean =>
      by === name && arrivesUntil > now - this.#intervalMs;
    return this.#calls.filter(counts).length;
  }

  /** The calls of a killed process can still arrive for a while. */
  kill(name: ProcessName, now: number): void {
    for (const call of this.#calls) {
      if (call.by === name) call.arrivesUntil = Math.min(call.arrivesUntil, now + arrivalGraceMs);
    }
  }
}
