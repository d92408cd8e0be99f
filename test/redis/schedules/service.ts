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
  /** Whether the last call was over the limit. */
  isOver = false;
  readonly #limit: number;
  readonly #intervalMs: number;
  #calls: Call[] = [];

  constructor(limit: number, intervalMs: number) {
    this.#limit = limit;
    this.#intervalMs = intervalMs;
  }

  send(by: ProcessName, now: number): Call {
    this.sent += 1;
    this.#calls = this.#calls.filter(({ arrivesUntil }) => arrivesUntil > now - this.#intervalMs);
    this.isOver = this.#calls.length >= this.#limit;
    const call: Call = { by, arrivesUntil: Infinity };
    // It refuses a call over the limit, and does not count it.
    if (!this.isOver) this.#calls.push(call);
    return call;
  }

  /** The calls of a killed process can still arrive for a while. */
  kill(name: ProcessName, now: number): void {
    for (const call of this.#calls) {
      if (call.by === name) call.arrivesUntil = Math.min(call.arrivesUntil, now + arrivalGraceMs);
    }
  }
}
