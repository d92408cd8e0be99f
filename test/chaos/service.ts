import { DOCUMENTED_WINDOWS } from "audience-sdk";
import {
  createMockService,
  type MockFault,
  type MockFaultKind,
  type MockRateLimitOptions,
  type MockService,
  type MockVariants,
} from "audience-sdk/mock";
import type { Dice } from "./dice.ts";
import { optIns, emailOf, listIds, people, phoneOf } from "./inputs.ts";

/** The bodies by name in which the mock can write an error of v1. */
export const v1ErrorBodies = [
  "message",
  "error",
  "error-object",
  "errors",
  "json-api",
  "status-code",
  "text",
  "empty",
] as const;

/** How often each fault comes, beside the others, and how long it delays. A fault that is new has to be added here. */
const faultWeights: Record<MockFaultKind, { weight: number; delaysMs?: readonly number[] }> = {
  "reset-before": { weight: 3 },
  "reset-after": { weight: 4 },
  hang: { weight: 2 },
  latency: { weight: 2, delaysMs: [100, 1_000, 3_000] },
  "429": { weight: 3 },
  "500-before": { weight: 2 },
  "500-after": { weight: 3 },
  "502-html": { weight: 2 },
  "503-retry-after": { weight: 2 },
  "truncated-json": { weight: 1 },
  "wrong-json": { weight: 1 },
  "wrong-content-type": { weight: 1 },
  "empty-body": { weight: 1 },
  "huge-body": { weight: 1 },
  "slow-body": { weight: 2, delaysMs: [20, 150, 600] },
  redirect: { weight: 1 },
};

export const faultKinds = Object.keys(faultWeights) as MockFaultKind[];

const operations = [
  "v1.customers.upsert",
  "v1.customers.get",
  "v1.customers.list",
  "v1.contactGroups.list",
  "v1.contactGroups.get",
  "v1.contactGroups.addContact",
  "v1.events.send",
  "v2.contacts.upsert",
  "v2.lists.list",
] as const;

/** A fault that ends: at most `times` requests meet it. */
export function anyFault(dice: Dice): MockFault {
  const kinds = faultKinds.flatMap((kind) => Array<MockFaultKind>(faultWeights[kind].weight).fill(kind));
  const kind = dice.pick(kinds);
  const { delaysMs } = faultWeights[kind];
  return {
    kind,
    times: dice.int(1, 4),
    after: dice.pick([0, 0, 0, dice.int(1, 8)]),
    probability: dice.pick([1, 1, 0.5]),
    ...(dice.chance(0.4) && { operation: dice.pick(operations) }),
    // 4,000 s is more than the client waits.
    retryAfter: dice.chance(0.02) ? 4_000 : dice.pick([0, 1, 1, 2, 5, false, new Date(Date.now() + 2_500)]),
    ...(delaysMs && { delayMs: dice.pick(delaysMs) }),
  };
}

type Choose<Value> = (dice: Dice, keys: readonly string[]) => Value;

/** What only lists show: test/pagination and test/properties read them. */
type OfLists = `v1List${string}` | `v1Paging${string}` | `v2${"Default" | "Max"}Limit` | "v1CustomerOrder";

/** A value for each other variant. One that is new has to be added here. */
export const variantChoices: {
  readonly [Name in Exclude<keyof MockVariants, OfLists>]: Choose<MockVariants[Name]>;
} = {
  baseUrl: (dice) => dice.pick(["https://service.example", "https://service.example/under/a/prefix"]),
  baseUrlV2: (dice) => dice.pick(["https://second.example", "https://service.example/two"]),
  v1Group: (dice) => dice.pick(["flat", "data", "resource"]),
  unknownGroupStatus: (dice) => dice.pick([404, 400, 410]),
  profileAttributes: (dice) => dice.pick(["all", "documented"]),
  v1Error: (dice, keys) =>
    dice.pick([
      ...v1ErrorBodies,
      // A service that echoes the key.
      ({ message }) => ({ problem: { [keys[0]!]: message, detail: `${keys[0]} must not do this` } }),
    ]),
  rateLimitStatus: (dice) => dice.pick([429, 429, 403, 503]),
  rateLimitBody: (dice) => dice.pick(["error", "html", ({ waitMs }) => ({ retry_in_ms: waitMs })]),
  rateLimitHeader: (dice) => dice.pick(["retry-after", "ratelimit-reset"]),
  eventStatus: (dice) => dice.pick([200, 201, 202, 204]),
  eventBody: (dice) => dice.pick([{ status: "accepted" }, undefined, "queued", [], null]),
  contactUuidPlace: (dice) => dice.pick(["contact", "root", "either"]),
  unknownContactUuidStatus: (dice) => dice.pick([404, 422, 400]),
  isUniqueIdentifierRequired: (dice) => dice.chance(0.5),
  eventMaxLength: (dice) => dice.pick([Number.POSITIVE_INFINITY, 40]),
  eventContactKeys: (dice) => dice.pick([[], ["phone"], ["phone", "external_id"]]),
  emailOptInOmitted: (dice) => dice.pick(["kept", "SUBSCRIBED", "NON_SUBSCRIBED"]),
  phoneOptInOmitted: (dice) => dice.pick(["kept", "SUBSCRIBED", "NON_SUBSCRIBED"]),
  canV1Resubscribe: (dice) => dice.chance(0.5),
  suppressionOmitted: () => "kept",
  doubleOptIn: (dice) => dice.pick(["recorded", "pending"]),
  customProperties: (dice) => dice.pick(["merged", "replaced"]),
  emailCase: (dice) => dice.pick(["insensitive", "sensitive"]),
  matchFirst: (dice) => dice.pick(["email", "phone"]),
  unknownCountry: (dice) => dice.pick(["kept", "dropped", "refused"]),
  unknownListWritesContact: (dice) => dice.chance(0.5),
  canAddToSegment: (dice) => dice.chance(0.5),
  v1NeedsAppId: (dice) => dice.chance(0.5),
  permissions: (dice, keys) => {
    const forbidden = dice.pick(operations);
    return dice.chance(0.3) ? { [keys[0]!]: operations.filter((each) => each !== forbidden) } : {};
  },
  v2MaxLength: (dice) => dice.pick([Number.POSITIVE_INFINITY, 40]),
  v2OtherStatus: (dice) => dice.pick(["stored", "ignored", "refused"]),
  canV2Resubscribe: (dice) => dice.chance(0.5),
  v2UnknownList: (dice) => dice.pick(["ignored", "refused"]),
  v2ListIds: (dice) => dice.pick(["added", "replaced"]),
  welcomeEmail: (dice) => dice.pick(["every-request", "once"]),
  webhookMethod: (dice) => dice.pick(["POST", "PUT", "PATCH"]),
  webhookBody: (dice) => dice.pick(["flat", "envelope", "contact", ({ automation }) => ({ automation })]),
  webhookAttempts: (dice) => dice.pick([1, 3]),
  webhookTimeoutMs: (dice) => dice.pick([5_000, 200]),
};

/** The mock with random variants and rate limit, and the facts of it that clients and checks need. */
export interface Service {
  readonly mock: MockService;
  readonly variants: Partial<MockVariants>;
  readonly keys: readonly string[];
  readonly rateLimits: MockRateLimitOptions | undefined;
}

export const appId = "chaos-app";

export function anyService(dice: Dice): Service {
  const keys = [dice.word(24), dice.word(24)];
  const names = Object.keys(variantChoices) as (keyof typeof variantChoices)[];
  const isTame = dice.chance(0.2);
  const chosen = names.filter(() => dice.chance(isTame ? 0 : 0.35));
  const variants = Object.fromEntries(
    chosen.map((name) => [name, variantChoices[name](dice, keys)]),
  ) as Partial<MockVariants>;
  const rateLimits = anyRateLimits(dice);
  // With 403 for both, a forbidden row would count as refused for its rate, and wait without end.
  if (variants.permissions && variants.rateLimitStatus === 403) delete variants.permissions;
  const mock = createMockService({
    organizations: organizations(dice, keys),
    rateLimits: rateLimits ?? false,
    latencyMs: dice.pick([0, 20, [0, 40], [5, 300]]),
    seed: dice.int(1, 1e9),
    variants,
    webhookFetch: async () => {
      if (dice.chance(0.3)) throw new TypeError("the receiver is away");
      return new Response(null, { status: dice.pick([200, 204, 500]) });
    },
  });
  return { mock, variants, keys, rateLimits };
}

function anyRateLimits(dice: Dice): MockRateLimitOptions | undefined {
  const windows = dice.pick([
    undefined,
    [...DOCUMENTED_WINDOWS],
    [
      { limit: 4, intervalMs: 500 },
      { limit: 20, intervalMs: 5_000 },
    ],
    [{ limit: 5, intervalMs: 1_000 }],
  ]);
  if (windows === undefined) return undefined;
  return {
    windows,
    algorithm: dice.pick(["sliding", "sliding", "fixed", "token-bucket"]),
    retryAfter: dice.pick(["seconds", "date", false]),
    countRefused: dice.chance(0.3),
    phaseMs: dice.int(0, 1_000),
  };
}

function organizations(dice: Dice, keys: readonly string[]) {
  const seeded = people.filter(() => dice.chance(0.6));
  return [
    {
      id: "chaos",
      apiKeys: [...keys],
      appId,
      lists: [
        ...listIds.map((id) => ({ id, name: id })),
        { id: "segment", name: "segment", type: "SEGMENT" as const },
      ],
      contacts: seeded.map((person) => ({
        id: `uuid-${person}`,
        email: emailOf(person),
        ...(dice.chance(0.5) && { phone: phoneOf(person) }),
        email_opt_in: dice.pick(optIns),
      })),
      automations: [
        { name: "thanks", on: { event: "order placed" }, webhook: { url: "http://127.0.0.1:9/hook" } },
        { name: "welcome", on: { listId: listIds[0]! } },
      ],
      welcomeFlow: true,
    },
    // Nobody here has its key.
    { id: "stranger", apiKeys: [dice.word(24)], appId: "other-app", contacts: [{ email: emailOf(0) }] },
  ];
}
