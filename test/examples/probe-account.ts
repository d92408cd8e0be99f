import { AudienceClient } from "audience-sdk";
import { createMockService, type MockVariants } from "audience-sdk/mock";
import fc from "fast-check";
import { expect } from "vitest";
import { askAccount } from "../../examples/probe/ask.ts";
import type { Finding } from "../../examples/probe/finding.ts";
import { learn } from "../../examples/probe/learn.ts";
import { v1ErrorBodies } from "../chaos/service.ts";

export const account = {
  id: "seeded",
  apiKeys: ["mock-key-of-the-account"],
  appId: "mock-app",
  lists: [
    { id: "news", name: "News" },
    { id: "offers", name: "Offers" },
    { id: "engaged", name: "Engaged", type: "SEGMENT" as const },
  ],
  contacts: [{ email: "ada@example.com" }, { phone: "+441632960000" }],
};
/** Lists that v2 shows: segments are no lists. */
const listCount = 2;

/** What GETs can show. */
export const shownByGets = fc.record({
  v1List: fc.constantFrom("data", "array", "data-key", "root-key"),
  v1Paging: fc.constantFrom("links", "meta", "pagination", "totals", "none"),
  v1PagingCase: fc.constantFrom("snake", "camel"),
  v1ListedCustomer: fc.constantFrom("resource", "envelope", "flat"),
  v1ListedConsents: fc.boolean(),
  v1ListedGroup: fc.constantFrom("flat", "resource"),
  v1Group: fc.constantFrom("flat", "data", "resource"),
  unknownGroupStatus: fc.oneof(
    fc.constantFrom(400, 401, 403, 404, 410, 422, 500),
    fc.integer({ min: 200, max: 599 }),
  ),
  profileAttributes: fc.constantFrom("all", "documented"),
  v1Error: fc.constantFrom(...v1ErrorBodies),
  v1NeedsAppId: fc.boolean(),
  v2DefaultLimit: fc.integer({ min: 1, max: 2_000 }),
  v2MaxLimit: fc.integer({ min: 1, max: 2_000 }),
}) satisfies fc.Arbitrary<Partial<MockVariants>>;

/** What is shown of these variants: one that has no effect beside another, or fits two meanings, is not. */
export function shownOf({ v1Paging, v1PagingCase, unknownGroupStatus: status, ...v }: Partial<MockVariants>) {
  const hasPaging = v.v1List !== "array";
  const hasNames = hasPaging && v1Paging !== "links" && v1Paging !== "none";
  // A refusal, a timeout and a redirect say nothing of the group.
  const isAnswer = status !== undefined && status !== 408 && status !== 429 && (status < 300 || status > 399);
  const { v2DefaultLimit = 0, v2MaxLimit = 0, ...others } = v;
  const defaultLimit = Math.min(v2DefaultLimit, v2MaxLimit);
  const maxLimit = Math.min(v2MaxLimit, 1_000);
  return {
    ...others,
    ...(hasPaging && { v1Paging }),
    ...(hasNames && { v1PagingCase }),
    ...(isAnswer && { unknownGroupStatus: status }),
    // As many lists as the page has items: the number may be that of the items.
    ...(defaultLimit !== listCount && { v2DefaultLimit: defaultLimit }),
    ...(maxLimit !== listCount && { v2MaxLimit: Math.max(maxLimit, defaultLimit) }),
  };
}

export async function learned(
  given: Partial<MockVariants>,
  options: Omit<Parameters<typeof createMockService>[0] & object, "variants"> = {},
) {
  const mock = createMockService({ organizations: [account], ...options, variants: given });
  const audience = new AudienceClient({ ...mock.clientOptions, maxRetries: 0 });
  const answers = await askAccount(audience, { appId: account.appId });
  return { values: valuesOf(learn(answers)), mock };
}

function valuesOf(findings: Record<string, Finding>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(findings).flatMap(([name, finding]) =>
      "value" in finding ? [[name, finding.value]] : [],
    ),
  );
}

/** What the probe learns of a mock is what the mock has, in at most ten GETs and without a write. */
export async function expectLearned(given: Partial<MockVariants>): Promise<void> {
  const { values, mock } = await learned(given);
  expect(values).toEqual(shownOf(given));
  expect(mock.requests.length).toBeLessThanOrEqual(10);
  expect(mock.requests.every(({ method }) => method === "GET")).toBe(true);
}
