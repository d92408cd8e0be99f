import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { openSnapshot, readSnapshot } from "audience-sdk/snapshot";
import { beforeEach, expect, it, vi } from "vitest";
import { night } from "../../examples/recipes/nightly/night.ts";
import { temporaryFolder } from "../snapshot/fixture.ts";
import { type Night, playWeek } from "../snapshot/weeks.ts";
import { timesOf } from "./runs.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.spyOn(console, "log").mockImplementation(() => undefined);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});

// A thousand weeks on a machine that is busy with other things.
const longestMs = 3_600_000;

async function playWeeks(count: number, job: Night) {
  const folder = temporaryFolder();
  const counts: Record<string, number> = {};
  for (let seed = 0; seed < count; seed += 1) {
    const week = await playWeek(seed, folder, job);
    for (const [what, times] of Object.entries(week.counts)) counts[what] = (counts[what] ?? 0) + times;
    if (week.wrongs.length > 0) return { wrongs: week.wrongs, counts };
  }
  return { wrongs: [], counts };
}

it(
  "After a night that ended nobody is subscribed who had left before it, on the website or at the service",
  async () => {
    const weeks = timesOf(1_000, 20);

    const { wrongs, counts } = await playWeeks(weeks, night);

    expect(wrongs).toEqual([]);
    for (const what of ["a page", "a write", "a refusal", "reading a row"])
      expect(counts[`killed at ${what}`], what).toBeGreaterThan(0);
    expect(counts["left, and stayed so"]).toBeGreaterThan(weeks);
    expect(counts["subscribed"]).toBeGreaterThan(weeks);
  },
  longestMs,
);

/** What `changesSince` is not for: the opt-ins of a page are older than what the table knows. */
const byHand: Night = async (audience, people, folder) => {
  const [file, last] = [join(folder, "by-hand.ndjson"), join(folder, "by-hand-last.ndjson")];
  using today = await readSnapshot(audience, { file });
  if (existsSync(last)) {
    using before = await openSnapshot(last);
    for await (const { contact } of today.changesSince(before))
      await people.setConsent(contact.email!, contact.email_opt_in!);
  }
  renameSync(file, last);
  await night(audience, people, folder);
};

it(
  "A loop by hand that writes opt-ins home does not hold that",
  async () => {
    const { wrongs } = await playWeeks(300, byHand);

    expect(wrongs).not.toEqual([]);
  },
  longestMs,
);
