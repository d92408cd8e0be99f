import { beforeEach, expect, it, vi } from "vitest";
import { temporaryFolder } from "../snapshot/fixture.ts";
import { playWeek } from "../snapshot/weeks.ts";
import { timesOf } from "./runs.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.spyOn(console, "log").mockImplementation(() => undefined);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});

// A thousand weeks on a machine that is busy with other things.
const longestMs = 3_600_000;

it(
  "After a night that ended nobody is subscribed who had left before it, on the website or at the service",
  async () => {
    const weeks = timesOf(1_000, 20);
    const folder = temporaryFolder();
    const counts: Record<string, number> = {};

    for (let seed = 0; seed < weeks; seed += 1) {
      const week = await playWeek(seed, folder);
      expect(week.wrongs).toEqual([]);
      for (const [what, times] of Object.entries(week.counts)) counts[what] = (counts[what] ?? 0) + times;
    }

    for (const what of ["a page", "a write", "a refusal", "reading a row"])
      expect(counts[`killed at ${what}`], what).toBeGreaterThan(0);
    expect(counts["left, and stayed so"]).toBeGreaterThan(weeks);
    expect(counts["subscribed"]).toBeGreaterThan(weeks);
  },
  longestMs,
);
