import { AudienceClient, isAudienceError } from "audience-sdk";
import { createMockService, type MockFault } from "audience-sdk/mock";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { runs, timesOf } from "./runs.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const count = timesOf(1_000);

const kinds = [
  "reset-before",
  "reset-after",
  "hang",
  "latency",
  "429",
  "500-before",
  "500-after",
  "502-html",
  "503-retry-after",
  "truncated-json",
  "wrong-json",
  "wrong-content-type",
  "empty-body",
  "huge-body",
  "slow-body",
  "redirect",
] as const;

/** The faults, their probabilities and durations: enough for some events to fail permanently. */
const faults: fc.Arbitrary<MockFault[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds),
    probability: fc.constantFrom(0.1, 0.3, 0.6),
    after: fc.integer({ min: 0, max: 0.9 * count }),
    times: fc.integer({ min: 1, max: 0.06 * count }),
    retryAfter: fc.constantFrom(0, 1, 30),
    delayMs: fc.constantFrom(0, 50),
  }),
  { minLength: 1, maxLength: 6 },
);

const events = Array.from({ length: count }, (_, number) => ({
  eventName: "order placed",
  contact: { email: `contact-${number % 90}@example.com` },
  eventData: { number },
}));

type Report = { number: number; id: string; outcome: string };

/** Sends all events at once; returns the id and the outcome of each. */
async function sendAll(audience: AudienceClient, ids: readonly (string | undefined)[]): Promise<Report[]> {
  const reports = events.map(async (event, number): Promise<Report> => {
    const id = ids[number];
    try {
      const sent = await audience.v1.events.send(
        id === undefined ? event : { ...event, uniqueIdentifier: id },
      );
      return { number, id: sent.uniqueIdentifier, outcome: "applied" };
    } catch (error) {
      if (!isAudienceError(error) || error.uniqueIdentifier === undefined) throw error;
      return { number, id: error.uniqueIdentifier, outcome: error.outcome };
    }
  });
  let isOver = false;
  const isUnderWay = () => !isOver;
  const all = Promise.all(reports).finally(() => (isOver = true));
  // An hour and more, as the limiter asks for it.
  for (let minute = 0; minute < 70 && isUnderWay(); minute++) await vi.advanceTimersByTimeAsync(60_000);
  return await all;
}

it(`Each of ${count.toLocaleString("en")} events is recorded exactly once or reported with its id, and all are recorded after a resend with those ids`, async () => {
  await fc.assert(
    fc.asyncProperty(faults, fc.integer(), async (planned, seed) => {
      const mock = createMockService({ faults: planned, seed });
      const audience = new AudienceClient({
        ...mock.clientOptions,
        timeoutMs: 1_000,
        maxRetries: 1,
        maxResponseBytes: 4_096,
      });
      const timesRecorded = () => {
        const times = new Map<string, number>();
        for (const { uniqueIdentifier = "" } of mock.organization("mock-organization").events) {
          times.set(uniqueIdentifier, (times.get(uniqueIdentifier) ?? 0) + 1);
        }
        return times;
      };

      const first = await sendAll(audience, []);
      const afterFirst = timesRecorded();
      for (const { id, outcome } of first) {
        const times = afterFirst.get(id) ?? 0;
        if (outcome === "applied") expect(times).toBe(1);
        else if (outcome === "unknown") expect(times).toBeLessThanOrEqual(1);
        else expect(times).toBe(0);
      }
      expect(new Set(first.map(({ id }) => id)).size).toBe(count);

      // All are sent again, also the recorded ones, until there are no more faults.
      let open = first;
      for (let round = 0; round < 40 && open.some(({ outcome }) => outcome !== "applied"); round++) {
        open = await sendAll(
          audience,
          first.map(({ id }) => id),
        );
      }

      const recorded = mock.organization("mock-organization").events;
      expect(recorded).toHaveLength(count);
      expect(new Set(timesRecorded().values())).toEqual(new Set([1]));
      expect(new Set(recorded.map(({ eventData }) => eventData?.["number"])).size).toBe(count);
      const idOf = new Map(first.map(({ number, id }) => [number, id]));
      expect(
        recorded.every(
          ({ uniqueIdentifier, eventData }) => idOf.get(eventData?.["number"] as number) === uniqueIdentifier,
        ),
      ).toBe(true);
    }),
    runs(10),
  );
});
