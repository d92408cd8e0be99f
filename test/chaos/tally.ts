import { isAudienceError } from "audience-sdk";
import type { World } from "./world.ts";

/** Counts what occurred in the worlds, so that a test can say that chaos reached it. */
export class Tally {
  readonly counts = new Map<string, number>();

  readonly add = ({ log, service }: World): void => {
    this.#count("seeds");
    for (const { fault } of service.mock.requests) if (fault) this.#count(`fault ${fault}`);
    for (const variant of Object.keys(service.variants)) this.#count(`variant ${variant}`);
    for (const { error, settledAt, departures } of log.calls) {
      const outcome = isAudienceError(error) ? error.outcome : "applied";
      this.#count(settledAt === undefined ? "calls killed" : `outcome ${outcome}`);
      if (departures.length > 1) this.#count("retried calls");
    }
    for (const { results, wasKilled } of log.runs) {
      this.#count(wasKilled ? "runs killed" : "runs");
      for (const { status, error, item } of results) {
        this.#count(`row ${status}`);
        if (item.inputs.length > 1) this.#count("rows of two writes");
        if (status === "superseded" && error === undefined)
          this.#count("rows superseded since an earlier night");
      }
    }
  };

  #count(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }
}
