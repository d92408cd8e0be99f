/** What is mutated in one go, and the tests that must notice. */
export interface Area {
  readonly name: string;
  /** Folders, or files, of `src`. */
  readonly sources: readonly string[];
  /** Few and fast: each mutant costs a run of those among them that reach it. */
  readonly tests: readonly string[];
}

/** From the fastest to the slowest. */
export const areas: readonly Area[] = [
  {
    name: "checkpoint",
    sources: ["checkpoint"],
    tests: ["bulk/{file-checkpoint,file-checkpoint-system,key-table}"],
  },
  {
    name: "pagination",
    sources: ["pagination", "pagination.ts", "list-pages.ts"],
    tests: [
      "pagination/*",
      "document/endpoint-{customer-list,contact-groups,v2-lists}",
      "regressions/null-query-*",
    ],
  },
  {
    name: "bulk",
    sources: ["bulk"],
    tests: ["bulk/{check,key-set,progress,recorded,results,source,stop}"],
  },
  {
    name: "mock",
    sources: [
      "mock/world.ts",
      "mock/organization.ts",
      "mock/rules.ts",
      "mock/rules-v1.ts",
      "mock/rules-v2.ts",
    ],
    tests: ["mock/{formats,messages,service,variants,world}"],
  },
  {
    name: "redis",
    sources: ["redis"],
    tests: ["redis/{options,refusal,script,store-rules,turns}"],
  },
  {
    name: "schemas",
    sources: ["fields", "v1/schemas", "v2/schemas", "flatten-properties.ts"],
    tests: ["schemas/*"],
  },
  {
    name: "store-places",
    sources: ["store-places"],
    tests: ["store-places/!(shared-never-over)", "regressions/store-*"],
  },
  {
    name: "rate-limiter",
    sources: ["rate-limiter"],
    tests: ["rate-limiter/!(estimates-of-hours|keeps-alive|lost-timers|never-over*)"],
  },
  {
    name: "transport",
    sources: ["transport"],
    tests: [
      "transport/!(compression-bomb|many-contacts)",
      "bulk/{rate-limit,stop}",
      "regressions/!(a-hundred*|checkpoint*|getter*|key-function*|mangled*|mock*|names-of*|store-*|unknown-state*)",
    ],
  },
];
