import { AudienceClient } from "audience-sdk";
import { createMockService, type MockFault } from "audience-sdk/mock";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { runs } from "./runs.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const consent = { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" };

/** One opt-in or opt-out, through one of the three methods that write consent. */
interface Step {
  readonly contact: number;
  readonly isOptIn: boolean;
  readonly method: "upsert" | "addContact" | "v2";
  readonly spelling: "plain" | "upper case";
  /** Milliseconds until the next step. */
  readonly pauseMs: number;
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    contact: fc.integer({ min: 0, max: 2 }),
    isOptIn: fc.boolean(),
    method: fc.constantFrom("upsert" as const, "addContact" as const, "v2" as const),
    spelling: fc.constantFrom("plain" as const, "upper case" as const),
    pauseMs: fc.constantFrom(0, 0, 1, 40, 400),
  }),
  { minLength: 1, maxLength: 12 },
);

// All faults that a repeatable write survives; an invalid 2xx ends its call, which is no matter of order.
const faultKinds = [
  "reset-before",
  "reset-after",
  "hang",
  "latency",
  "429",
  "500-before",
  "500-after",
  "502-html",
  "503-retry-after",
  "slow-body",
] as const;
const faults: fc.Arbitrary<MockFault[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...faultKinds),
    times: fc.integer({ min: 1, max: 2 }),
    after: fc.integer({ min: 0, max: 10 }),
    retryAfter: fc.constantFrom(0, 1, 3),
    delayMs: fc.constantFrom(0, 20, 300),
  }),
  { maxLength: 5 },
);

const addressOf = ({ contact, spelling }: Step) => {
  const address = `contact-${contact}@example.com`;
  return spelling === "plain" ? address : address.toUpperCase();
};

function write({ v1, v2 }: AudienceClient, step: Step): Promise<unknown> {
  const email = addressOf(step);
  const email_opt_in = step.isOptIn ? "SUBSCRIBED" : "UNSUBSCRIBED";
  if (step.method === "upsert") return v1.customers.upsert({ email, email_opt_in });
  if (step.method === "addContact") return v1.contactGroups.addContact("mock-list", { email, email_opt_in });
  const channels = { email: { status: step.isOptIn ? "subscribed" : "unsubscribed" } };
  return v2.contacts.upsert({
    firstName: "A",
    listIds: [],
    identifiers: [{ type: "email", id: email, channels, consent }],
  });
}

it("Under any faults, each contact ends with the consent of the last call", async () => {
  await fc.assert(
    fc.asyncProperty(steps, faults, fc.integer(), async (sequence, planned, mockSeed) => {
      const mock = createMockService({ faults: planned, latencyMs: [0, 120], seed: mockSeed });
      const audience = new AudienceClient({ ...mock.clientOptions, timeoutMs: 2_000, maxRetries: 20 });
      const calls: Promise<unknown>[] = [];
      for (const step of sequence) {
        calls.push(write(audience, step));
        await vi.advanceTimersByTimeAsync(step.pauseMs);
      }
      let isOver = false;
      const isUnderWay = () => !isOver;
      const all = Promise.all(calls).finally(() => (isOver = true));
      for (let minute = 0; minute < 20 && isUnderWay(); minute++) await vi.advanceTimersByTimeAsync(60_000);
      await all;

      const wanted = new Map(
        sequence.map((step) => [addressOf(step).toLowerCase(), step.isOptIn ? "SUBSCRIBED" : "UNSUBSCRIBED"]),
      );
      const { contacts } = mock.organization("mock-organization");
      expect(
        new Map(contacts.map(({ email = "", email_opt_in }) => [email.toLowerCase(), email_opt_in])),
      ).toEqual(wanted);
    }),
    runs(150),
  );
});
