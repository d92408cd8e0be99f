// Lists of any length: every item, every page, some items, or one page.
//
// npx tsx examples/05-page-through.ts
import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";

const contacts = Array.from({ length: 250 }, (_, at) => ({ email: `person${at}@example.com` }));
const mock = createMockService({
  organizations: [{ id: "shop", apiKeys: ["mock-key"], appId: "mock-app", contacts }],
});
await using audience = new AudienceClient(mock.clientOptions);
const { customers } = audience.v1;

// Every item. The loop sends the first request; the next page is fetched while you work on this one.
let count = 0;
for await (const profile of customers.list()) if (profile.attributes.email) count += 1;
console.log(count, mock.requests.length);
//=> 250 3

// Page by page.
for await (const { page, items, hasNextPage } of customers.list({ limit: 80 }).pages())
  console.log(page, items.length, hasNextPage);
//=> 1 80 true
//=> 2 80 true
//=> 3 80 true
//=> 4 10 false

// One page, by awaiting the list.
const third = await customers.list({ page: 3, limit: 100 });
console.log(third.items.length, third.items[0]?.attributes.email, third.hasNextPage);
//=> 50 person200@example.com false

// The first 120 items, with no more pages than needed.
const few = await customers.list().toArray({ max: 120 });
console.log(few.length);
//=> 120

// The shape of v1 lists is not documented, so the usual shapes are understood. For another one, find the items yourself.
const unusual = createMockService({
  variants: { v1List: (items) => ({ result: { people: items, others: [] } }), v1Paging: "none" },
  organizations: [{ id: "shop", apiKeys: ["mock-key"], appId: "mock-app", contacts }],
});
await using other = new AudienceClient({
  ...unusual.clientOptions,
  parsePage: (body) => {
    // If the body has another shape, the call rejects with an `UnexpectedResponseError`.
    const { result } = body as { result: { people: unknown[] } };
    return { items: result.people };
  },
});
console.log((await other.v1.customers.list().toArray()).length);
//=> 250
