import type { AudienceClient, BulkRequest } from "audience-sdk";
import type { MockService } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { createFixture, row, type Row } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

interface NightlyRow extends Row {
  readonly city: string;
}

/** What happens every night: the row, and what others do before it. */
interface Nightly {
  readonly rowOf: (night: number) => Partial<NightlyRow>;
  readonly before?: (mock: MockService, audience: AudienceClient) => unknown;
  readonly isCurrent?: () => boolean;
}

const nightly: [string, Nightly][] = [
  ["changes", { rowOf: () => ({}) }],
  ["is superseded by the service", { rowOf: () => ({}), before: (mock) => mock.unsubscribe(row(0).email) }],
  ["is refused by isCurrent", { rowOf: () => ({}), isCurrent: () => false }],
  [
    "fails",
    {
      rowOf: () => ({}),
      before: (mock) => mock.addFault({ kind: "redirect", operation: "v1.customers.upsert", times: 1 }),
    },
  ],
  [
    "fails, and states another consent",
    {
      rowOf: (night) => ({ email_opt_in: night % 2 === 0 ? "SUBSCRIBED" : "NON_SUBSCRIBED" }),
      before: (mock) => mock.addFault({ kind: "redirect", operation: "v1.customers.upsert", times: 1 }),
    },
  ],
  [
    "may have been applied, and states another consent",
    {
      rowOf: (night) => ({ email_opt_in: night % 2 === 0 ? "SUBSCRIBED" : "UNSUBSCRIBED" }),
      before: (mock) => mock.addFault({ kind: "wrong-json", operation: "v1.customers.upsert", times: 1 }),
    },
  ],
  ["is invalid", { rowOf: () => ({ email_opt_in: "subscribed" as "SUBSCRIBED" }) }],
  ["changes its address", { rowOf: (night) => ({ email: `ada-${night}@example.com` }) }],
  [
    "changes its address, and fails",
    {
      rowOf: (night) => ({ email: `ada-${night}@example.com` }),
      before: (mock) => mock.addFault({ kind: "redirect", operation: "v1.customers.upsert", times: 1 }),
    },
  ],
];

it.each(nightly)("The record of a row that %s every night does not grow without end", async (_, given) => {
  const { rowOf, before, isCurrent } = given;
  const { audience, mock } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  const upsert = (item: NightlyRow, request: BulkRequest) => audience.v1.customers.upsert(item, request);
  const sizes: number[] = [];
  for (let night = 0; night < 36; night++) {
    if (night > 0) before?.(mock, audience);
    const item = { ...row(0), city: `City ${night}`, ...rowOf(night) };
    await audience.bulk([item], upsert, {
      checkpoint,
      key: () => "row",
      stopWhen: () => false,
      ...(isCurrent && { isCurrent }),
    });
    sizes.push(checkpoint.lines.join("\n").length);
  }

  // It may hold what must not be forgotten of some earlier nights, and is rewritten when it has doubled.
  const early = Math.max(...sizes.slice(12, 24));
  const late = Math.max(...sizes.slice(24));
  expect(late).toBeLessThanOrEqual(early * 1.05);
});
