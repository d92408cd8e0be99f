// Logs and metrics: hooks, a logger, and on Node a diagnostics channel. None of them ever holds a key, an e-mail address,
// a phone number or a body.
//
// npx tsx examples/11-watch.ts
import { subscribe } from "node:diagnostics_channel";
import { AudienceClient, type RequestEvent } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";

const mock = createMockService();
mock.addFault({ kind: "429", retryAfter: 0, times: 1 });

const log =
  (event: string) =>
  ({ operation, attempt, status, error }: RequestEvent): void =>
    console.log([event, operation, `attempt ${attempt}`, status, error?.code].filter(Boolean).join(", "));

await using audience = new AudienceClient({
  ...mock.clientOptions,
  hooks: { onRequest: log("sent"), onResponse: log("answered"), onRetry: log("again") },
});

// The path in an event is the endpoint's template, because an id may be an e-mail address.
const paths = new Set<string>();
subscribe("tracing:audience-sdk:request:start", (message) => paths.add((message as RequestEvent).path));

await audience.v1.customers.upsert({ email: "ada@example.com", email_opt_in: "SUBSCRIBED" });
console.log(paths);
//=> sent, v1.customers.upsert, attempt 1
//=> answered, v1.customers.upsert, attempt 1, 429, rate_limit
//=> again, v1.customers.upsert, attempt 1, rate_limit
//=> sent, v1.customers.upsert, attempt 2
//=> answered, v1.customers.upsert, attempt 2, 201
//=> Set(1) { '/api/v1/customer/create' }

// A logger gets lines: `console`, or a logger of pino or winston. The default level is "warn".
const lines: string[] = [];
const line = (message: string): void => void lines.push(message);
const logger = { debug: line, info: line, warn: line, error: line };
const talking = audience.withOptions({ logger, logLevel: "debug", hooks: {} });
await talking.v2.lists.list();
for (const each of lines) console.log(each.replaceAll(/[0-9a-f-]{36}|\d+(?= ms)/g, "…"));
//=> audience-sdk: v2.lists.list, attempt 1 (request …) is sent
//=> audience-sdk: v2.lists.list, attempt 1 (request …) got 200 in … ms
