/** Source files that are mutated together, and the tests that must fail for a mutant. */
export interface Area {
  readonly name: string;
  /** Folders, or files, of `src`. A file is of the first area that names it. */
  readonly sources: readonly string[];
  /**
   * Their names by folder of `test`. Few and fast: each mutant needs a run of those that reach it. None may time itself:
   * mutated code is slower.
   */
  readonly tests: Readonly<Record<string, string>>;
}

/** From the fastest to the slowest. */
export const areas: readonly Area[] = [
  {
    name: "retry-plan",
    sources: ["transport/retry-plan.ts"],
    tests: {
      transport: "api-key deadlines fetch outcomes rate-refusal retries retry-after retry-plan",
      bulk: "rate-limit",
    },
  },
  {
    name: "bulk-refusals",
    sources: ["bulk/refusals.ts"],
    tests: { bulk: "check guard-process guard-run guard-service refusals results", snapshot: "bulk" },
  },
  {
    name: "consent",
    sources: ["consent.ts", "contact-keys.ts"],
    tests: {
      bulk: "guard-process guard-run guard-service keys refusals",
      transport: "custom-request order retries",
      document: "states-and-transitions",
      snapshot: "bulk questions",
    },
  },
  {
    name: "checkpoint",
    sources: ["checkpoint", "files"],
    tests: { bulk: "file-checkpoint file-checkpoint-lock-and-disk", files: "files" },
  },
  {
    name: "pagination",
    sources: ["pagination", "schema/response-values.ts", "v1/v1-list.ts", "v1/profile.ts", "v2/lists.ts"],
    tests: { pagination: "*", document: "endpoint-contact-groups lists" },
  },
  {
    name: "bulk-record",
    sources: ["bulk/run-record.ts"],
    tests: { bulk: "check event-ids keys nights own-checkpoint recorded target" },
  },
  {
    name: "bulk-guards",
    sources: ["bulk/guards"],
    tests: {
      bulk: "check guard-process guard-run guard-service is-current nights own-checkpoint recorded refusals",
      snapshot: "bulk",
    },
  },
  {
    name: "bulk-row",
    sources: ["bulk/prepare-row.ts", "bulk/send-row.ts"],
    tests: {
      bulk: "check event-ids guard-process guard-run guard-service is-current keys nights own-checkpoint rate-limit recorded refusals results stop writes-of-rows",
    },
  },
  {
    name: "bulk",
    sources: ["bulk"],
    tests: {
      bulk: "check event-ids first-row guard-run guard-service keys nights own-checkpoint progress rate-limit recorded refusals-first results source stop target writes-of-rows",
      snapshot: "bulk",
    },
  },
  {
    name: "mock",
    sources: [
      "mock/state/organizations.ts",
      "mock/state/organization.ts",
      "mock/webhooks.ts",
      "mock/json-rules.ts",
      "mock/v1/rules.ts",
      "mock/v2/rules.ts",
    ],
    tests: {
      mock: "request-log state variants webhooks",
      document:
        "custom-property-values endpoint-contact-groups endpoint-customer endpoint-events lists v1-contact v2-contact v2-identifier",
    },
  },
  {
    name: "redis",
    sources: ["redis"],
    tests: {
      redis:
        "options other-processes outages requests same-as-in-memory shared-limit store-rules unavailable",
    },
  },
  {
    name: "schemas",
    sources: [
      "schema/validate.ts",
      "values/copy-as-json.ts",
      "schema/standard-schema.ts",
      "values/in-words.ts",
      "values/predicates.ts",
      "schema/formats.ts",
      "v1/contact-schema.ts",
      "v1/event-schema.ts",
      "v2/contacts.ts",
      "flatten-properties.ts",
    ],
    tests: { schemas: "*", document: "*", transport: "write" },
  },
  {
    name: "rate-limiter",
    sources: ["rate-limiter"],
    tests: {
      "rate-limiter": "clock-and-timers cost-of-waiting options reserve usage waiting within-limits",
      redis: "other-processes outages requests shared-limit",
      transport: "environment rate-refusal",
    },
  },
  // The transport is split into areas, because every call reaches nearly all of it.
  {
    name: "transport-responses",
    sources: ["transport/decode-response.ts", "transport/api-error.ts", "transport/rate-refusal.ts"],
    tests: { transport: "errors fetch promise rate-refusal responses retry-after" },
  },
  {
    name: "transport-retries",
    sources: ["transport/attempts.ts"],
    tests: {
      transport: "api-key deadlines errors fetch observe outcomes retries retry-after",
      bulk: "rate-limit",
    },
  },
  {
    name: "transport-calls",
    sources: [
      "transport/api-promise.ts",
      "transport/client-state.ts",
      "transport/call-outcome.ts",
      "transport/cancellation.ts",
      "transport/permit.ts",
      "transport/write-order.ts",
      "transport/prepare-call.ts",
      "transport/transport.ts",
    ],
    tests: {
      transport:
        "abort api-key close custom-request deadlines errors headers observe options order outcomes promise rate-refusal responses retry-after tracing",
      bulk: "rate-limit stop",
      document: "endpoint-contact-groups endpoint-events endpoints lists",
    },
  },
  {
    name: "transport-send",
    sources: ["transport/abort-signal.ts", "transport/network-error.ts", "transport/exchange.ts"],
    tests: { transport: "abort deadlines errors fetch promise responses retry-after" },
  },
  {
    name: "transport-keys",
    sources: ["transport/api-key.ts", "transport/redact.ts"],
    tests: { transport: "abort api-key deadlines headers options secrets" },
  },
  {
    name: "transport-requests",
    sources: [
      "custom-request.ts",
      "schema/parse-options.ts",
      "transport/call-options.ts",
      "transport/observer.ts",
      "transport/tracing.ts",
    ],
    tests: {
      transport:
        "abort close custom-request deadlines environment errors headers observe options outcomes promise responses tracing",
      bulk: "results",
      "rate-limiter": "options",
      document: "endpoint-contact-groups endpoint-events endpoints lists",
    },
  },
];

/** The paths of an area's tests; the last part may be `*`. */
export function testFiles({ tests }: Area): string[] {
  return Object.entries(tests).flatMap(([folder, names]) =>
    names.split(" ").map((name) => `test/${folder}/${name}.test.ts`),
  );
}
