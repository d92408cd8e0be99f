import { refusalsOf } from "../refusals.ts";
import { channelsAt, type Guard, type GuardedRow, type Word } from "./guard.ts";

/** Knows what earlier rows of the run refuse: a row may not lift it. */
export class RunGuard implements Guard {
  readonly name = "the run";
  readonly maxAgeMs = 0;
  /** Channel and key of a contact: a few bytes for each contact that a row refuses. */
  readonly #refused = new Set<string>();

  /** The row was sent or skipped, or may have been sent. */
  learn({ writes }: GuardedRow): void {
    for (const { contacts, said } of writes)
      for (const channel of refusalsOf(said))
        for (const key of contacts) this.#refused.add(`${channel} ${key}`);
  }

  ask(row: GuardedRow): Word[] {
    if (this.#refused.size === 0) return [];
    return channelsAt(row)
      .filter(({ channel, key }) => this.#refused.has(`${channel} ${key}`))
      .map(({ channel, key }) => ({
        by: "run",
        channel,
        addresses: [key],
        isRefused: true,
        moment: Infinity,
      }));
  }
}
