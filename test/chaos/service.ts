import { DOCUMENTED_WINDOWS, type ParsePage } from "audience-sdk";
import {
  createMockService,
  type MockFault,
  type MockFaultKind,
  type MockListBody,
  type MockRateLimitOptions,
  type MockService,
  type MockVariants,
} from "audience-sdk/mock";
import type { Theme } from "./actions.ts";
import type { Dice } from "./dice.ts";
import { crowdEmailOf, optIns, emailOf, listIds, people, phoneOf } from "./inputs.ts";

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

export const operations = [
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

/** A list body that only `parsePage` understands. */
const unusualList: MockListBody = (items, _page, _limit, total) => ({
  reply: [{ rows: items, count: total }, { rows: [] }],
});

export const parseUnusualList: ParsePage = (body) => {
  const { reply } = body as { reply: [{ rows: unknown[]; count: number }] }; // Safe: `unusualList` made it
  return { items: reply[0].rows, totalItems: reply[0].count };
};

type Choose<Value> = (dice: Dice, keys: readonly string[]) => Value;

/** A value for each variant. One that is new has to be added here. */
export const variantChoices: { readonly [Name in keyof MockVariants]: Choose<MockVariants[Name]> } = {
  baseUrl: (dice) => dice.pick(["https://service.example", "https://service.example/under/a/prefix"]),
  baseUrlV2: (dice) => dice.pick(["https://second.example", "https://service.example/two"]),
  v1List: (dice) => dice.pick(["data", "array", "data-key", "root-key", unusualList]),
  v1Paging: (dice) => dice.pick(["links", "meta", "pagination", "totals", "none"]),
  v1PagingCase: (dice) => dice.pick(["snake", "camel"]),
  v1ListedCustomer: (dice) => dice.pick(["resource", "envelope", "flat"]),
  // The worlds of test/snapshot have lists that shift.
  v1CustomerOrder: () => "created",
  v1ListedConsents: () => true,
  v1ListedGroup: (dice) => dice.pick(["flat", "resource"]),
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
  emailOptInOmitted: (dice) => dice.pick(["kept", "SUBSCRIBED", "NON_SUBSCRIBED"]),
  phoneOptInOmitted: (dice) => dice.pick(["kept", "SUBSCRIBED", "NON_SUBSCRIBED"]),
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
  v2DefaultLimit: (dice) => dice.pick([20, 2]),
  v2MaxLimit: (dice) => dice.pick([100, 3]),
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

export function anyService(dice: Dice, theme: Theme): Service {
  const keys = [dice.word(24), dice.word(24)];
  const names = Object.keys(variantChoices) as (keyof MockVariants)[];
  const isTame = dice.chance(0.2);
  const chosen = names.filter(() => dice.chance(isTame ? 0 : 0.35));
  const variants = Object.fromEntries(
    chosen.map((name) => [name, variantChoices[name](dice, keys)]),
  ) as Partial<MockVariants>;
  const rateLimits = anyRateLimits(dice, theme);
  if (theme === "snapshots" && dice.chance(0.1)) variants.v1ListedConsents = false;
  // With 403 for both, a forbidden row would count as refused for its rate, and wait without end.
  if (variants.permissions && variants.rateLimitStatus === 403) delete variants.permissions;
  const mock = createMockService({
    organizations: organizations(dice, keys, theme),
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

function anyRateLimits(dice: Dice, theme: Theme): MockRateLimitOptions | undefined {
  const documented = [...DOCUMENTED_WINDOWS];
  const others = [
    undefined,
    documented,
    [
      { limit: 4, intervalMs: 500 },
      { limit: 20, intervalMs: 5_000 },
    ],
    [{ limit: 5, intervalMs: 1_000 }],
  ];
  const windows = dice.pick(theme === "beside an import" ? [documented] : others);
  if (windows === undefined) return undefined;
  return {
    windows,
    algorithm: dice.pick(["sliding", "sliding", "fixed", "token-bucket"]),
    retryAfter: dice.pick(["seconds", "date", false]),
    countRefused: dice.chance(0.3),
    phaseMs: dice.int(0, 1_000),
  };
}

/** More than a page of a snapshot. */
function crowd(dice: Dice, theme: Theme): { id: string; email: string; email_opt_in: string }[] {
  const size = theme === "snapshots" ? dice.int(90, 250) : 0;
  return Array.from({ length: size }, (_, index) => ({
    id: `crowd-${index}`,
    email: crowdEmailOf(index),
    email_opt_in: dice.pick(optIns),
  }));
}

function organizations(dice: Dice, keys: readonly string[], theme: Theme) {
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
      contacts: [
        ...crowd(dice, theme),
        ...seeded.map((person) => ({
          id: `uuid-${person}`,
          email: emailOf(person),
          ...(dice.chance(0.5) && { phone: phoneOf(person) }),
          email_opt_in: dice.pick(optIns),
        })),
      ],
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
