// The service permits 10 calls a second, 100 a minute and 1,000 an hour per IP address. The calls of all clients of a
// process wait in one queue. This example has a small window.
//
// npx tsx examples/07-limits.ts
import { AudienceClient, DOCUMENTED_WINDOWS, RateLimiter, RateLimitWaitError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";

console.log(DOCUMENTED_WINDOWS.map(({ limit, intervalMs }) => `${limit} per ${intervalMs / 1_000} s`));
//=> [ '10 per 1 s', '100 per 60 s', '1000 per 3600 s' ]

const windows = [{ limit: 3, intervalMs: 1_000 }];
const mock = createMockService({ rateLimits: windows });
const limiter = new RateLimiter({ windows });
await using audience = new AudienceClient({ ...mock.clientOptions, rateLimiter: limiter });

// Five calls of the last priority: two leave at once, as each window keeps a permit for the others. Then a person opens a
// page: that call has it.
const finished: string[] = [];
const send = (name: string, priority: number) =>
  audience.v1.events
    .send({ eventName: name, contact: { email: `${name.replace(" ", "")}@example.com` } }, { priority })
    .then(() => finished.push(name));
const calls = ["report 1", "report 2", "report 3", "report 4", "report 5"].map((name) => send(name, 9));
calls.push(send("page view", 0));

// A call with a shorter `maxWaitMs` is refused at once, and uses no permit.
const impatient = audience.v1.customers.list({}, { maxWaitMs: 10 });
const refusal: unknown = await impatient.then(undefined, (error: unknown) => error);
if (refusal instanceof RateLimitWaitError) console.log(refusal.outcome, refusal.window);
//=> not-sent { limit: 3, intervalMs: 1000 }

const { queued, windows: usage } = limiter.usage();
console.log(
  queued,
  usage.map(({ used, limit }) => `${used} of ${limit}`),
);
//=> 3 [ '3 of 3' ]

await Promise.all(calls);
console.log(finished.slice(0, 3), finished.length);
//=> [ 'report 1', 'report 2', 'page view' ] 6

// The service has refused no call.
console.log(mock.requests.filter(({ status }) => status === 429).length);
//=> 0

// The estimate for a thousand calls at the documented limits.
console.log(Math.round(new RateLimiter().estimateMs(1_000) / 60_000), "minutes");
//=> 9 minutes
