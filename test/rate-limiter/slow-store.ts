// It reaches into `src` for the memory of a process, in the place of a store that replies late: a store of a user's own has no
// documented methods, and Redis in its place would bring its heartbeats, leases and outages.
import type { RateLimitStore } from "audience-sdk";
import { MemoryStore, type Reply } from "../../src/rate-limiter/store.ts";

/** A store that answers like the memory of the process, but only after `delay` has resolved; `disturb` changes its replies. */
export function slowStore(
  delay: () => Promise<unknown>,
  disturb: (reply: Reply) => Reply = (reply) => reply,
): RateLimitStore & { readonly asked: string[]; readonly change: () => void } {
  const asked: string[] = [];
  let change = (): void => undefined;
  return {
    onUnavailable: "local",
    localShare: 1,
    leaseMs: 10_000,
    asked,
    change: () => change(),
    open(user) {
      change = user.onChange;
      const memory = new MemoryStore(user);
      return {
        async take(ask) {
          asked.push(`${ask.calls} of ${ask.isLast ? "priority 9" : "the others"}`);
          await delay();
          return disturb(memory.take(ask, user.clock()));
        },
        known: (now) => memory.known(now),
        tell: () => memory.tell(),
        settled: () => memory.settled(),
      };
    },
  };
}

export type { Reply };
