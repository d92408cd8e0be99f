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
    tests: [
      "bulk/{checkpoint-format*,file-checkpoint,file-checkpoint-system}",
      "regressions/{checkpoint-by,value-that}-*",
    ],
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
    sources: ["bulk", "consent.ts"],
    tests: [
      "bulk/{check,delta*,key-hash,misuse*,progress,rate-limit,recorded,results,source,stop,superseded*}",
      "regressions/{checkpoint,promise,row-whose,rows}-*",
    ],
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
    tests: ["mock/{books,formats,messages,seed,service,variants,world}"],
  },
  {
    name: "redis",
    sources: ["redis"],
    tests: [
      "redis/{background-timer,error-words,options,requests,script,shared-limit,store-rules,turns}",
      "regressions/{lone,store,usage}-*",
    ],
  },
  {
    name: "schemas",
    sources: ["fields", "v1/schemas", "v2/schemas", "flatten-properties.ts"],
    tests: ["schemas/*", "regressions/{copy-of,getter,identifier,names,proxy,revoked,undefined-unknown}-*"],
  },
  {
    name: "rate-limiter",
    sources: ["rate-limiter"],
    tests: [
      "rate-limiter/!(estimates-of-hours|keeps-alive|lost-timers|never-over*)",
      "regressions/{aborted,store-that,wait}-*",
      "redis/shared-limit",
    ],
  },
  // One area would be too slow: every call runs through nearly all of it.
  {
    name: "transport-answers",
    sources: [
      "transport/answer-head.ts",
      "transport/decode.ts",
      "transport/json-depth.ts",
      "transport/printable.ts",
      "transport/read-body.ts",
      "transport/retry-after.ts",
    ],
    tests: [
      "transport/{errors,foreign-fetch,promise,retry-after}",
      "regressions/{arrays,body,deep,error-as,failed,headers-of,hostile,reader,retry-after,undecodable,what-a-fetch,words}-*",
    ],
  },
  {
    name: "transport-retries",
    sources: ["transport/retry.ts", "transport/retry-policy.ts"],
    tests: ["transport/{errors,retries,retry-after}", "bulk/rate-limit", "regressions/{backoff,refusals}-*"],
  },
  {
    name: "transport-calls",
    sources: [
      "transport/api-promise.ts",
      "transport/attempt.ts",
      "transport/call.ts",
      "transport/contact-order.ts",
      "transport/session.ts",
      "transport/transport.ts",
    ],
    tests: [
      "transport/{abort,api-key,deadlines,errors,observe,options,order,outcomes,promise,retry-after}",
      "bulk/{rate-limit,stop}",
      "regressions/{aborted,backoff,close,error-of,mangled-id,passed,signal,what-user}-*",
    ],
  },
  {
    name: "transport-exchange",
    sources: [
      "transport/connection-failure.ts",
      "transport/interruption.ts",
      "transport/send.ts",
      "transport/sent-once.ts",
      "transport/timer.ts",
      "transport/wait.ts",
    ],
    tests: [
      "transport/{abort,connection-failures,deadlines,errors,foreign-fetch,promise,retry-after}",
      "regressions/{body,deno,failed,reader,undecodable,unreachable,wait,what-a-fetch}-*",
    ],
  },
  {
    name: "transport-keys",
    sources: [
      "transport/call-key.ts",
      "transport/key-source.ts",
      "transport/redact.ts",
      "transport/request-headers.ts",
    ],
    tests: ["transport/{abort,api-key,deadlines,options,secrets}", "regressions/{header,key,numeric-key}-*"],
  },
  {
    name: "transport-requests",
    sources: [
      "transport/build-request.ts",
      "transport/call-options.ts",
      "transport/observer.ts",
      "transport/request-channels.ts",
    ],
    tests: [
      "transport/{observe,options}",
      "document/{conventions,endpoint-contact-groups,endpoint-customer-list,endpoint-v2-lists}",
      "regressions/{logger,mangled-id,null-query,options-of}-*",
    ],
  },
];
