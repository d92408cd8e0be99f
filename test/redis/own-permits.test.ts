import { expect, it } from "vitest";
import { widenedMs } from "../../src/rate-limiter/sliding-window-log.ts";
import { OwnPermits } from "../../src/redis/own-permits.ts";

const windows = [{ limit: 10, intervalMs: 1_000 }];
const longestMs = widenedMs(1_000);

/** A permit that was released at 0. */
function released(): { own: OwnPermits; id: string } {
  const own = new OwnPermits(windows, []);
  const id = own.newId();
  own.hold(id);
  own.release(id, "responded", 0);
  return { own, id };
}

it("a permit is forgotten as soon as it has left the longest window, and not before", () => {
  const { own, id } = released();
  own.acknowledge(own.some([id]));
  expect([...own.all(longestMs - 1)]).toEqual([[id, 0]]);
  expect(own.log.responses(longestMs - 1)).toEqual([0]);
  expect([...own.all(longestMs)]).toEqual([]);
  expect(own.log.responses(longestMs)).toEqual([]);
});

it("a permit whose release was not reported to Redis is then returned, because Redis counts it as in flight", () => {
  const { own, id } = released();
  expect([...own.all(longestMs)]).toEqual([[id, "unsent"]]);
  own.acknowledge(own.all(longestMs));
  expect([...own.all(longestMs)]).toEqual([]);
});

it("a permit that changes during its report is reported again", () => {
  const own = new OwnPermits(windows, []);
  const id = own.newId();
  own.hold(id);
  const sent = own.all(0);
  own.release(id, "responded", 5);
  expect(own.acknowledge(sent)).toEqual([id]);
  expect(own.acknowledge(own.all(5))).toEqual([]);
});
