import { expect, it } from "vitest";
import { widenedMs } from "../../src/rate-limiter/sliding-window-log.ts";
import { KnownPermits } from "../../src/redis/known-permits.ts";

const windows = [{ limit: 10, intervalMs: 1_000 }];
const longestMs = widenedMs(1_000);

/** A permit that was released at 0. */
function released(): { permits: KnownPermits; id: string } {
  const permits = new KnownPermits({ windows, restored: [] });
  const id = permits.newId();
  permits.hold(id);
  permits.release(id, "responded", 0);
  return { permits, id };
}

it("a permit is forgotten as soon as it has left the longest window, and not before", () => {
  const { permits, id } = released();
  permits.acknowledge(permits.some([id]));
  expect([...permits.all(longestMs - 1)]).toEqual([[id, 0]]);
  expect(permits.own.responses(longestMs - 1)).toEqual([0]);
  expect([...permits.all(longestMs)]).toEqual([]);
  expect(permits.own.responses(longestMs)).toEqual([]);
});

it("a permit that changes during its report is reported again", () => {
  const permits = new KnownPermits({ windows, restored: [] });
  const id = permits.newId();
  permits.hold(id);
  const sent = permits.all(0);
  permits.release(id, "responded", 5);
  expect(permits.acknowledge(sent)).toEqual([id]);
  expect(permits.acknowledge(permits.all(5))).toEqual([]);
});
