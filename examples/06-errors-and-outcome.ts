// Every error has the outcome of the write: it says whether sending the write again is safe.
//
// npx tsx examples/06-errors-and-outcome.ts
import { AudienceClient, isAudienceError } from "audience-sdk";
import { createMockService, type MockFaultKind } from "audience-sdk/mock";

const mock = createMockService();
await using audience = new AudienceClient({ ...mock.clientOptions, maxRetries: 0 });
const contact = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" } as const;

const faults: MockFaultKind[] = [
  "429",
  "503-retry-after",
  "502-html",
  "reset-after",
  "wrong-json",
  "redirect",
];
for (const kind of faults) {
  mock.reset();
  mock.addFault({ kind });
  try {
    await audience.v1.customers.upsert(contact);
  } catch (error) {
    if (!isAudienceError(error)) throw error;
    const isStored = mock.organization("mock-organization").contacts.length === 1;
    console.log(`${kind}: ${error.name}, ${error.outcome}; it was ${isStored ? "" : "not "}stored`);
  }
}
//=> 429: RateLimitError, not-applied; it was not stored
//=> 503-retry-after: ServerError, unknown; it was not stored
//=> 502-html: ServerError, unknown; it was stored
//=> reset-after: ConnectionError, unknown; it was stored
//=> wrong-json: UnexpectedResponseError, unknown; it was stored
//=> redirect: RedirectError, not-applied; it was not stored

// With four retries, the default, temporary failures are retried: the write has its consent, so it is repeatable.
const retrying = audience.withOptions({ maxRetries: 4 });
mock.reset();
mock.addFault({ kind: "reset-after", times: 1 });
const { attempts } = await retrying.v1.customers.upsert(contact).withResponse();
console.log(attempts, mock.organization("mock-organization").contacts.length);
//=> 2 1

// A write without consent is not retried: its effect on an existing contact is not documented.
mock.reset();
mock.addFault({ kind: "reset-after", times: 1 });
const failure: unknown = await retrying.v1.customers
  .upsert({ email: contact.email })
  .catch((error: unknown) => error);
if (isAudienceError(failure))
  console.log(failure.outcome, failure.request?.operation, failure.request?.attempts);
//=> unknown v1.customers.upsert 1
