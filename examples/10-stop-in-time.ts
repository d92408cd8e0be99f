// Bounds for the duration of calls: a signal, a timeout, a deadline, and closing the client.
//
// npx tsx examples/10-stop-in-time.ts
import { AbortError, AudienceClient, ClientClosedError, TimeoutError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";

const mock = createMockService({ rateLimits: [{ limit: 3, intervalMs: 60_000 }] });
const audience = new AudienceClient(mock.clientOptions);
const { customers } = audience.v1;
mock.addFault({ kind: "hang" });

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

// A signal: the call rejects at once, in the queue or in flight.
const gone = new AbortController();
const abandoned = customers.get("c-1", { signal: gone.signal });
gone.abort(new Error("the page was left"));
const aborted = await failureOf(abandoned);
if (aborted instanceof AbortError) console.log(aborted.name, aborted.outcome, String(aborted.cause));
//=> AbortError not-sent Error: the page was left

// A timeout bounds one attempt; the service may have carried out the write.
const slow = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" } as const;
const timedOut = await failureOf(customers.upsert(slow, { timeoutMs: 50, maxRetries: 0 }));
if (timedOut instanceof TimeoutError) console.log(timedOut.name, timedOut.timeoutMs, timedOut.outcome);
//=> TimeoutError 50 unknown

// A deadline bounds the whole call: queue, attempts and backoff. A read is never "unknown".
const late = await failureOf(customers.get("c-1", { deadlineMs: 200 }));
if (late instanceof TimeoutError) console.log(late.name, late.timeoutMs, late.outcome);
//=> TimeoutError 200 not-applied

// Closing rejects calls that wait for the rate limit; requests in flight complete.
mock.reset();
const running = customers.list().then(({ items }) => items.length);
const waiting = failureOf(customers.get("c-1"));
await audience.close();
const refused = await waiting;
console.log(await running, refused instanceof ClientClosedError && refused.outcome);
//=> 0 not-sent
