import { expect, it } from "vitest";
import { widenedMs } from "../../src/rate-limiter/sliding-window-log.ts";
import { SharedCount } from "../../src/redis/shared-count.ts";

const windows = [{ limit: 10, intervalMs: 1_000 }];
const longestMs = widenedMs(1_000);

/** A permit that was released at 0. */
function released(): { count: SharedCount; id: string } {
  const count = new SharedCount({ windows, restored: [] });
  const id = count.newId();
  count.hold(id);
  count.release(id, "responded", 0);
  return { count, id };
}

it("a permit is forgotten as soon as it has left the longest window, and not before", () => {
  const { count, id } = released();
  count.acknowledge(count.some([id]));
  expect([...count.all(longestMs - 1)]).toEqual([[id, 0]]);
  expect(count.own.responses(longestMs - 1)).toEqual([0]);
  expect([...count.all(longestMs)]).toEqual([]);
  expect(count.own.responses(longestMs)).toEqual([]);
});

it("a permit that changes during its report is reported again", () => {
  const count = new SharedCount({ windows, restored: [] });
  const id = count.newId();
  count.hold(id);
  const sent = count.all(0);
  count.release(id, "responded", 5);
  expect(count.acknowledge(sent)).toEqual([id]);
  expect(count.acknowledge(count.all(5))).toEqual([]);
});
